package base

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
)

// ErrClosed is returned once the file is closed.
var ErrClosed = errors.New("base is closed")

// sharedUses is how many readers share one transaction before the next one
// opens another. It bounds how long an unbroken chain of overlapping readers
// can keep a fold from growing the map.
const sharedUses = 1024

// Tx is a read transaction, shared by neighbouring readers. Hold it for one
// batch of reads only: it keeps pages from being reused and the map from
// growing. What it returns is valid until Release.
type Tx struct {
	tx    *bolt.Tx
	file  *os.File // what the map is of
	pages pages
	path  string
	about description
	refs  atomic.Int32 // readers, and one more while it is offered to further ones
	uses  int          // guarded by File.mu

	spaces atomic.Pointer[spaceEntry]
}

// spaceEntry is a link of the list of spaces a transaction has opened:
// prepended to, never changed.
type spaceEntry struct {
	space uint32
	tree  tree
	next  *spaceEntry
}

// Path returns the path of the file, "" in memory.
func (t *Tx) Path() string { return t.path }

// Acquire returns a transaction that sees everything folded so far.
func (f *File) Acquire() (*Tx, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.offered; t != nil && t.uses < sharedUses {
		t.uses++
		t.refs.Add(1)
		return t, nil
	}
	f.retireLocked()
	if f.gen == nil {
		return nil, ErrClosed
	}
	t, err := f.begin()
	if err != nil {
		return nil, err
	}
	t.refs.Store(1)
	if !f.folding {
		t.refs.Store(2)
		f.offered = t
	}
	return t, nil
}

func (f *File) begin() (*Tx, error) {
	tx, err := f.gen.db.Begin(false)
	if err != nil {
		return nil, fmt.Errorf("base %s: read: %w", f.path, err)
	}
	t := &Tx{tx: tx, file: f.gen.file, path: f.path}
	if err := t.look(); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return t, nil
}

// look reads what the file says about itself.
func (t *Tx) look() (err error) {
	defer recoverCorrupt(t.path, &err)
	defer endFaults(catchFaults())
	t.pages = pagesOf(t.tx)
	t.about, err = t.pages.description(t.path)
	return err
}

// retire stops offering the current transaction: later readers see what has
// been folded since.
func (f *File) retire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retireLocked()
}

func (f *File) retireLocked() {
	if t := f.offered; t != nil {
		f.offered = nil
		t.Release()
	}
}

// Release ends the caller's use of t.
func (t *Tx) Release() {
	if t.refs.Add(-1) == 0 {
		// Rollback of a read transaction fails only if it was ended already.
		_ = t.tx.Rollback()
	}
}

// Folded returns the sequence up to which t is complete.
func (t *Tx) Folded() uint64 { return t.about.seq }

func (t *Tx) space(space uint32) tree {
	head := t.spaces.Load()
	for e := head; e != nil; e = e.next {
		if e.space == space {
			return e.tree
		}
	}
	found, _ := t.pages.bucket(spaceName(space))
	t.spaces.CompareAndSwap(head, &spaceEntry{space: space, tree: found, next: head})
	return found
}

func spaceName(space uint32) []byte {
	return binary.BigEndian.AppendUint32(nil, space)
}

// Get returns the value of key in space, or nil if there is none.
func (t *Tx) Get(space uint32, key []byte) (value []byte, err error) {
	defer endReading(t.path, catchFaults(), &err)
	return t.space(space).get(key), nil
}

// Cursor returns a cursor over space.
func (t *Tx) Cursor(space uint32) (*Cursor, error) {
	c := new(Cursor)
	return c, t.Point(c, space)
}

// Point makes c a cursor over space, which stands nowhere.
func (t *Tx) Point(c *Cursor, space uint32) (err error) {
	defer endReading(t.path, catchFaults(), &err)
	*c = Cursor{path: t.path, tree: t.space(space)}
	return nil
}

// Spaces returns the numbers of all spaces in the file, ascending.
func (t *Tx) Spaces() (spaces []uint32, err error) {
	defer recoverCorrupt(t.path, &err)
	defer endFaults(catchFaults())
	c := Cursor{path: t.path, tree: t.pages.top()}
	for err = c.SeekGE(nil); err == nil && c.Key != nil; err = c.Next() {
		switch {
		case bytes.Equal(c.Key, metaBucket):
		case len(c.Key) != 4:
			return nil, corrupt(t.path, "an unknown bucket %q", c.Key)
		default:
			spaces = append(spaces, binary.BigEndian.Uint32(c.Key))
		}
	}
	return spaces, err
}
