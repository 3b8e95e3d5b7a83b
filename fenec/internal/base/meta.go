package base

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// meta is what a meta page says, behind the page's header:
//
//	 0  magic, version, page size, flags, uint32 each
//	16  root page of the tree of buckets, and a sequence, uint64 each
//	32  page of the list of free pages, uint64
//	40  count of pages, uint64
//	48  transaction, uint64
//	56  checksum, FNV-1a of bytes [0, 56), uint64
type meta struct {
	pageSize            uint64
	freelist, count, tx uint64
}

const (
	metaMagic = 0xED0CDAED
	metaBytes = 64
	metaSum   = metaBytes - 8
)

// decodeMeta reads a page that may be a meta page.
func decodeMeta(b []byte) (m meta, ok bool) {
	b = b[pageHeader:][:metaBytes]
	sum := fnv.New64a()
	sum.Write(b[:metaSum])
	if binary.NativeEndian.Uint32(b) != metaMagic || binary.NativeEndian.Uint64(b[metaSum:]) != sum.Sum64() {
		return meta{}, false
	}
	return meta{
		pageSize: uint64(binary.NativeEndian.Uint32(b[8:])),
		freelist: binary.NativeEndian.Uint64(b[32:]),
		count:    binary.NativeEndian.Uint64(b[40:]),
		tx:       binary.NativeEndian.Uint64(b[48:]),
	}, true
}

// freeIDs returns the numbers that a page of the list of free pages holds, 8
// bytes each. They must ascend and be of a file of count pages.
func freeIDs(b page, count uint64) ([]byte, error) {
	if b.kind() != freelistPage {
		return nil, fmt.Errorf("page %d is of kind %#x, not a list of free pages", b.id(), b.kind())
	}
	n, ids := b.listed()
	if n > uint64(len(ids)/8) {
		return nil, fmt.Errorf("page %d lists %d free pages, more than it holds", b.id(), n)
	}
	ids = ids[:8*n]
	last := uint64(1)
	for i := range n {
		id := binary.NativeEndian.Uint64(ids[8*i:])
		if id <= last || id >= count {
			return nil, fmt.Errorf("page %d lists free page %d of %d after %d", b.id(), id, count, last)
		}
		last = id
	}
	return ids, nil
}

// listed returns how many free pages the list that begins with b has, and what
// of b holds their numbers.
func (b page) listed() (n uint64, ids []byte) {
	n, ids = uint64(b.count()), b[pageHeader:]
	if n == 0xFFFF { // the first number is the count
		n, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	return n, ids
}

// freeBytes returns how much of a file is free pages by what the head of their
// list says; nothing if that makes no sense.
func freeBytes(f io.ReaderAt) int64 {
	m, err := newestMeta(f)
	if err != nil {
		return 0
	}
	head := make(page, pageHeader+8)
	if _, err := f.ReadAt(head, int64(m.freelist*m.pageSize)); err != nil || head.kind() != freelistPage {
		return 0
	}
	n, _ := head.listed()
	if n > m.count {
		return 0
	}
	return int64(n * m.pageSize)
}

// inspect returns what is wrong with those parts of a file that bbolt reads,
// and believes, in order to open it: for writing the list of free pages too.
func inspect(f *os.File, reading bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := newestMeta(f)
	if err != nil {
		return err
	}
	if m.count > uint64(info.Size())/m.pageSize {
		return fmt.Errorf("the file is cut: it holds %d bytes, not %d pages", info.Size(), m.count)
	}
	if reading {
		return nil
	}
	list, err := readFreelist(f, m)
	if err == nil {
		_, err = freeIDs(list, m.count)
	}
	return err
}

// newestMeta returns the meta page that bbolt goes by. The second one lies
// where the first says, or else in one of the places where it may.
func newestMeta(f io.ReaderAt) (newest meta, err error) {
	b := make([]byte, pageHeader+metaBytes)
	read := func(at uint64) (m meta, ok bool) {
		if _, err := f.ReadAt(b, int64(at)); err != nil {
			return meta{}, false
		}
		m, ok = decodeMeta(b)
		return m, ok && m.pageSize >= leastPage && m.pageSize <= mostPage && (at == 0 || at == m.pageSize)
	}
	newest, ok := read(0)
	if ok {
		if m, ok := read(newest.pageSize); ok && m.tx > newest.tx {
			newest = m
		}
		return newest, nil
	}
	for at := uint64(leastPage); at <= mostPage; at *= 2 {
		if m, ok := read(at); ok {
			return m, nil
		}
	}
	return meta{}, errors.New("it does not begin like a database")
}

// DamagedMeta returns an error that tells which of the two meta pages is damaged, nil
// if none is. The file goes by the other one then, which may be that of the fold
// before the last.
func (f *File) DamagedMeta() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gen == nil {
		return ErrClosed
	}
	m, err := newestMeta(f.gen.file)
	if err != nil {
		return corrupt(f.path, "%v", err)
	}
	b := make([]byte, pageHeader+metaBytes)
	for i := range int64(2) {
		at := i * int64(m.pageSize)
		if _, err := f.gen.file.ReadAt(b, at); err != nil {
			return corrupt(f.path, "meta page %d: %v", i, err)
		}
		if other, ok := decodeMeta(b); !ok || other.pageSize != m.pageSize {
			return corrupt(f.path, "meta page %d, at byte %d, is damaged", i, at)
		}
	}
	return nil
}

// Sizes of pages that bbolt knows.
const (
	leastPage = 1 << 10
	mostPage  = 16 << 20
)

// readFreelist reads the list of free pages. bbolt would do without one, and
// walk the whole file instead.
func readFreelist(f io.ReaderAt, m meta) (page, error) {
	if m.freelist < 2 || m.freelist >= m.count {
		return nil, fmt.Errorf("its list of free pages is at %d of %d", m.freelist, m.count)
	}
	at := int64(m.freelist * m.pageSize)
	head := make(page, pageHeader)
	if _, err := f.ReadAt(head, at); err != nil {
		return nil, err
	}
	n := 1 + uint64(head.overflow())
	if head.id() != m.freelist || n > m.count-m.freelist {
		return nil, fmt.Errorf("page %d is no list of free pages", m.freelist)
	}
	list := make(page, n*m.pageSize)
	_, err := f.ReadAt(list, at)
	return list, err
}

// inspectLocked is inspect under the lock, where nobody else writes the file.
func inspectLocked(path string) error {
	opts := boltOptions(0)
	opts.ReadOnly = true
	g, err := openBolt(path, opts, func() (*os.File, error) { return os.Open(path) })
	if errors.Is(err, ErrInUse) {
		return err
	}
	if err != nil {
		return corrupt(path, "%v", err)
	}
	defer g.db.Close()
	if err := inspect(g.file, lazily); err != nil {
		return corrupt(path, "%v", err)
	}
	return nil
}
