package base

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
)

// Format is the version of the layout this package writes.
const Format = 1

// ID names one file for its life. A log carries the id of the base it belongs
// to, so that no log is ever replayed into another base.
type ID [16]byte

var (
	metaBucket = []byte("fenec")
	keyFormat  = []byte("format")
	keyID      = []byte("id")
	keySeq     = []byte("seq")
)

// File is an open base. Its methods are safe for concurrent use, but for Fold,
// BeginCompaction, Close, and the Install of a Compaction, which the owner calls
// one at a time.
type File struct {
	path   string // "" for a file in memory
	id     ID
	folded atomic.Uint64
	tee    *delta // what a compaction misses, or nil; Fold's and the Compaction's alone

	closing sync.WaitGroup // the generations that others have replaced

	mu      sync.Mutex  // guards the fields below
	gen     *generation // nil once closed
	offered *Tx         // what the next reader shares, or nil
	folding bool        // a fold runs: nothing is offered
}

// Create makes an empty base at path, durably and at once: the name appears
// only when the file is complete. It fails with fs.ErrExist if path is taken.
// An interrupted Create leaves a file whose name ends like path's, and
// ".creating".
func Create(path string) error {
	side, err := os.CreateTemp(filepath.Dir(path), "*."+filepath.Base(path)+".creating")
	if err != nil {
		return fmt.Errorf("base %s: create: %w", path, err)
	}
	defer os.Remove(side.Name())
	if err := errors.Join(side.Close(), initialise(side.Name())); err != nil {
		return fmt.Errorf("base %s: create: %w", path, err)
	}
	return Publish(side.Name(), path)
}

func initialise(path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true, NoGrowSync: true})
	if err != nil {
		return err
	}
	err = db.Update(describe)
	if err == nil {
		err = db.Sync()
	}
	return errors.Join(err, db.Close())
}

// describe writes the bucket that makes an empty bbolt file a base.
func describe(tx *bolt.Tx) error {
	b, err := tx.CreateBucket(metaBucket)
	if err != nil {
		return err
	}
	return errors.Join(
		b.Put(keyFormat, binary.BigEndian.AppendUint32(nil, Format)),
		b.Put(keyID, newID()),
		b.Put(keySeq, make([]byte, 8)))
}

func newID() []byte {
	id := make([]byte, len(ID{}))
	rand.Read(id)
	return id
}

// Publish gives a complete side file its name, durably. It fails with
// fs.ErrExist if path is taken; side is gone afterwards.
func Publish(side, path string) error {
	if err := os.Link(side, path); err != nil {
		return err
	}
	if err := os.Remove(side); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Replace is Publish though path may be taken: what has the name loses it.
func Replace(side, path string) error {
	if err := os.Rename(side, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Adopt opens the base at path and gives it an id of its own, drawn afresh, so that no
// log of the file it was copied from belongs to it. Nothing is brought to disk: the
// caller sees to that, before anybody relies on the file.
func Adopt(path string) (*File, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	if err := f.rename(newID()); err != nil {
		return nil, errors.Join(fmt.Errorf("base %s: adopt: %w", path, err), f.Close())
	}
	return f, nil
}

// rename changes the file's id.
func (f *File) rename(id []byte) (err error) {
	if err := f.openForWriting(); err != nil {
		return err
	}
	f.growGently()
	defer f.recoverCorrupt(&err)
	defer endFaults(catchFaults())
	copy(f.id[:], id)
	db := f.gen.db
	db.NoSync, db.NoGrowSync = true, true
	defer func() { db.NoSync, db.NoGrowSync = false, false }()
	return db.Update(func(tx *bolt.Tx) error {
		d := folder{tx: tx, path: f.path, pages: pagesOf(tx)}
		return d.describe(keyID, id)
	})
}

// Open opens the base at path and locks it.
func Open(path string) (*File, error) {
	for range 8 {
		g, err := openGeneration(path)
		if err != nil {
			return nil, err
		}
		same, err := isStill(path, g.file)
		if err == nil && same {
			return newFile(path, g)
		}
		if cerr := g.close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, fmt.Errorf("base %s: open: %w", path, err)
		}
	}
	return nil, fmt.Errorf("base %s: %w: the file is being replaced", path, ErrInUse)
}

// OpenMemory opens an empty base that no name leads to and that is gone when
// closed.
func OpenMemory() (*File, error) {
	f, err := memoryFile()
	if err != nil {
		return nil, fmt.Errorf("base in memory: %w", err)
	}
	opts := boltOptions(0)
	opts.NoSync, opts.NoGrowSync = true, true
	opts.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return f, nil }
	db, err := bolt.Open(f.Name(), 0o600, opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("base in memory: %w", err), f.Close())
	}
	if err := db.Update(describe); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return newFile("", &generation{db: db, file: f})
}

func newFile(path string, g *generation) (*File, error) {
	f := &File{path: path, gen: g}
	if err := f.readMeta(); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return f, nil
}

func (f *File) readMeta() error {
	t, err := f.begin()
	if err != nil {
		return err
	}
	t.refs.Store(1)
	defer t.Release()
	f.id = t.about.id
	f.folded.Store(t.about.seq)
	return nil
}

// description is what a base says about itself.
type description struct {
	id  ID
	seq uint64
}

// description reads it. It panics at damaged pages.
func (p *pages) description(path string) (d description, err error) {
	b, ok := p.bucket(metaBucket)
	if !ok {
		return d, corrupt(path, "not a fenec database")
	}
	format, id, seq := b.get(keyFormat), b.get(keyID), b.get(keySeq)
	if len(format) != 4 || len(id) != len(d.id) || len(seq) != 8 {
		return d, corrupt(path, "its description is damaged")
	}
	if v := binary.BigEndian.Uint32(format); v != Format {
		return d, fmt.Errorf("base %s: format %d, this program reads %d", path, v, Format)
	}
	copy(d.id[:], id)
	d.seq = binary.BigEndian.Uint64(seq)
	return d, nil
}

// ID returns the file's id.
func (f *File) ID() ID { return f.id }

// Folded returns the sequence up to which the file is complete.
func (f *File) Folded() uint64 { return f.folded.Load() }

// Size returns the file's length in bytes.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gen == nil {
		return 0
	}
	info, err := f.gen.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// FreeBytes returns how much of the file is free pages: what Compact gives
// back.
func (f *File) FreeBytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gen == nil {
		return 0
	}
	return f.gen.freeBytes()
}

// Close closes the file and gives up its lock. Every Tx must have been
// released, or Close waits for it.
func (f *File) Close() error {
	f.retire()
	f.mu.Lock()
	g := f.gen
	f.gen = nil
	f.mu.Unlock()
	f.closing.Wait()
	if g == nil {
		return nil
	}
	return g.close()
}
