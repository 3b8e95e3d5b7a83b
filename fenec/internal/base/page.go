package base

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	bolt "go.etcd.io/bbolt"
)

// bbolt writes pages in the machine's byte order. Each begins with
//
//	 0  its own number, uint64
//	 8  kind, uint16
//	10  count of elements, uint16
//	12  how many pages more it goes on for, uint32
//
// and has its elements from byte 16 on:
//
//	branch  position, key length, uint32 each; page, uint64
//	leaf    flags, position, key length, value length, uint32 each
//
// A position counts from the element's first byte. The value of a bucket is the
// page of its root, uint64, and a sequence, uint64; for a root of 0 the root is
// a page that follows right there.
//
// bbolt trusts its pages: one that leads back to itself makes it descend until
// memory runs out, which nothing can recover. So what is read is read here,
// every place checked against the bounds, and what is written is walked through
// here first.
const (
	pageHeader   = 16
	elementBytes = 16
	bucketHeader = 16

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10

	bucketFlag = 0x01 // of a leaf's element

	// maxDepth is more levels than any tree has: with two children to a page
	// they would reach more pages than a file can have keys.
	maxDepth = 24
)

// pages are all pages of a file, as one transaction sees it. What does not make
// sense there makes its methods panic, which recoverCorrupt turns into
// ErrCorrupt.
type pages struct {
	data  []byte
	size  uint64 // of a page, in bytes
	count uint64 // of pages
	root  uint64 // of the tree of buckets
}

// pagesOf returns the pages that tx sees, for as long as it is open and, if it
// writes, has not been committed.
func pagesOf(tx *bolt.Tx) pages {
	info := tx.DB().Info()
	start := *(*unsafe.Pointer)(unsafe.Pointer(&info.Data))
	return pages{
		data:  unsafe.Slice((*byte)(start), int(tx.Size())),
		size:  uint64(info.PageSize),
		count: uint64(tx.Size()) / uint64(info.PageSize),
		root:  uint64(tx.Cursor().Bucket().RootPage()),
	}
}

// page returns a page and those it goes on for.
func (p *pages) page(id uint64) page {
	if id < 2 || id >= p.count {
		panic(fmt.Sprintf("page %d of %d", id, p.count))
	}
	b := page(p.data[id*p.size:])
	if b.id() != id {
		panic(fmt.Sprintf("page %d calls itself %d", id, b.id()))
	}
	n := (1 + uint64(b.overflow())) * p.size
	if n > uint64(len(b)) {
		panic(fmt.Sprintf("page %d goes on for %d pages, past the end", id, b.overflow()))
	}
	return b[:n:n]
}

// child returns a page that a branch leads to.
func (p *pages) child(id uint64) page {
	b := p.page(id)
	if b.count() == 0 {
		panic(fmt.Sprintf("page %d has no elements", id))
	}
	return b
}

// page is the bytes of one page. It is never written.
type page []byte

func (b page) id() uint64       { return binary.NativeEndian.Uint64(b) }
func (b page) kind() uint16     { return binary.NativeEndian.Uint16(b[8:]) }
func (b page) count() int       { return int(binary.NativeEndian.Uint16(b[10:])) }
func (b page) overflow() uint32 { return binary.NativeEndian.Uint32(b[12:]) }

// isLeaf tells a leaf from a branch, and panics at anything else.
func (b page) isLeaf() bool {
	switch b.kind() {
	case leafPage:
		return true
	case branchPage:
		return false
	}
	panic(fmt.Sprintf("page %d is of kind %#x", b.id(), b.kind()))
}

func (b page) element(i int) []byte { return b[pageHeader+elementBytes*i:] }

// branch returns the first key below element i of a branch, and the page that
// leads there.
func (b page) branch(i int) (key []byte, id uint64) {
	e := b.element(i)
	pos, size := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
	return cut(e, pos, size), binary.NativeEndian.Uint64(e[8:])
}

// leaf returns element i of a leaf.
func (b page) leaf(i int) (key, value []byte, flags uint32) {
	e := b.element(i)
	flags = binary.NativeEndian.Uint32(e)
	pos, size, valueSize := binary.NativeEndian.Uint32(e[4:]), binary.NativeEndian.Uint32(e[8:]), binary.NativeEndian.Uint32(e[12:])
	key = cut(e, pos, size)
	return key, cut(e, pos+size, valueSize), flags
}

// sound is leaf for an element that may be damaged; ok is false if it is.
func (b page) sound(i int) (key, value []byte, ok bool) {
	at := pageHeader + elementBytes*i
	if i < 0 || at+elementBytes > len(b) {
		return nil, nil, false
	}
	e := b[at : at+elementBytes]
	start := uint64(at) + uint64(binary.NativeEndian.Uint32(e[4:]))
	mid := start + uint64(binary.NativeEndian.Uint32(e[8:]))
	end := mid + uint64(binary.NativeEndian.Uint32(e[12:]))
	if end > uint64(len(b)) {
		return nil, nil, false
	}
	return b[start:mid:mid], b[mid:end:end], true
}

// separator returns the key of element i of a branch; ok is false if that is
// damaged.
func (b page) separator(i int) (key []byte, ok bool) {
	at := pageHeader + elementBytes*i
	if at+elementBytes > len(b) {
		return nil, false
	}
	start := uint64(at) + uint64(binary.NativeEndian.Uint32(b[at:]))
	end := start + uint64(binary.NativeEndian.Uint32(b[at+4:]))
	if end > uint64(len(b)) {
		return nil, false
	}
	return b[start:end:end], true
}

// key returns the key of element i, of whichever kind b is.
func (b page) key(i int) []byte {
	e := b.element(i)
	if b.kind() == leafPage {
		return cut(e, binary.NativeEndian.Uint32(e[4:]), binary.NativeEndian.Uint32(e[8:]))
	}
	return cut(e, binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:]))
}

// cut returns n bytes at pos, with nothing behind them.
func cut(b []byte, pos, n uint32) []byte {
	b = b[pos:]
	return b[:n:n]
}

// check panics unless every element lies within the page and their keys ascend.
func (b page) check() {
	leaf := b.isLeaf()
	var last []byte
	for i := range b.count() {
		key := b.key(i)
		if leaf {
			key, _, _ = b.leaf(i)
		}
		if len(key) == 0 || i > 0 && bytes.Compare(key, last) <= 0 {
			panic(b.disorder())
		}
		last = key
	}
}

func (b page) disorder() string {
	return fmt.Sprintf("page %d has its keys out of order", b.id())
}
