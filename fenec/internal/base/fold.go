package base

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Op says what a Change does.
type Op uint8

// The operations of a fold.
const (
	OpPut       Op = iota // Key takes Value
	OpDelete              // Key goes
	OpDropSpace           // the whole space goes; Key and Value are not looked at
)

// Change is one step of a fold.
type Change struct {
	Op         Op
	Space      uint32
	Key, Value []byte // need not outlive the call that is handed them
}

// Fold applies changes, in the order that next yields them until it returns
// false, in one transaction that also sets the folded sequence to seq. Keys of
// one space must ascend. When Fold fails nothing of it is in the file.
func (f *File) Fold(seq uint64, next func() (Change, bool)) (err error) {
	if seq < f.Folded() {
		return fmt.Errorf("base %s: fold to %d: folded to %d before", f.path, seq, f.Folded())
	}
	if err := f.openForWriting(); err != nil {
		return err
	}
	f.setFolding(true)
	defer f.setFolding(false)
	f.growGently()
	defer f.recoverCorrupt(&err)
	defer endFaults(catchFaults())
	tx, err := f.gen.db.Begin(true)
	if err != nil {
		return fmt.Errorf("base %s: fold: %w", f.path, err)
	}
	// After a commit this changes nothing; after an error or a panic it gives
	// the write lock back.
	defer func() { _ = tx.Rollback() }()
	fold := folder{tx: tx, path: f.path, pages: pagesOf(tx)}
	for c, ok := next(); ok; c, ok = next() {
		f.tee.add(c)
		if err := fold.apply(c); err != nil {
			return fmt.Errorf("base %s: fold: %w", f.path, err)
		}
	}
	if err := fold.describe(keySeq, binary.BigEndian.AppendUint64(nil, seq)); err != nil {
		return fmt.Errorf("base %s: fold: %w", f.path, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("base %s: fold: %w", f.path, err)
	}
	f.folded.Store(seq)
	f.tee.end(seq)
	return nil
}

// setFolding says whether a fold runs. While one does, every reader gets a
// transaction of its own, since one that is offered is open also when nobody
// reads, and the map cannot grow under it. Either way those who come later see
// what has been folded before.
func (f *File) setFolding(folding bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retireLocked()
	f.folding = folding
}

// growGently keeps the steps in which the file grows in proportion to it, so
// that a small tenant stays small.
func (f *File) growGently() {
	const least, most = 64 << 10, 16 << 20
	f.gen.db.AllocSize = int(min(max(f.Size()/8, least), most))
}

// folder applies changes to one transaction. It walks to every place before
// bbolt does, through the file as it is before the fold, and so fails where
// bbolt would not return.
type folder struct {
	tx     *bolt.Tx
	path   string
	pages  pages
	top    sound // of the way to the last space
	space  uint32
	bucket *bolt.Bucket // of space, nil until it is known
	before tree         // the space before the fold
	way    walker       // through before, to the last key
	found  sound        // what of it has been found sound
	leaf   page         // where it leads, or nil
	done   bool         // it is the last leaf: all further keys belong there
}

func (d *folder) apply(c Change) error {
	if c.Op == OpDropSpace {
		return d.drop(c.Space)
	}
	if d.bucket == nil || d.space != c.Space {
		if err := d.enter(c); err != nil {
			return err
		}
	}
	d.look(c.Key)
	if c.Op == OpDelete {
		return d.bucket.Delete(c.Key)
	}
	return d.bucket.Put(c.Key, c.Value)
}

// describe sets a part of the file's description.
func (d *folder) describe(key, value []byte) error {
	if _, err := d.pages.description(d.path); err != nil {
		return err
	}
	d.find(metaBucket)
	return d.tx.Bucket(metaBucket).Put(key, value)
}

func (d *folder) drop(space uint32) error {
	d.bucket = nil
	name := spaceName(space)
	before, there := d.find(name)
	if there {
		if err := d.pages.verifyTree(d.path, before); err != nil {
			return err
		}
	}
	if d.tx.Bucket(name) == nil {
		return nil
	}
	return d.tx.DeleteBucket(name)
}

// find returns a bucket as it was before the fold, and panics if a page on the
// way to it is damaged.
func (d *folder) find(name []byte) (before tree, there bool) {
	var way walker
	way.descend(d.pages.top(), name)
	d.top.check(&way)
	return d.pages.bucket(name)
}

// fillAscending is how full pages are left where keys are only added at the
// end; elsewhere bbolt's half leaves room for what comes between.
const fillAscending = 0.95

func (d *folder) enter(c Change) error {
	name := spaceName(c.Space)
	d.before, _ = d.find(name)
	d.leaf, d.done = nil, false
	b := d.tx.Bucket(name)
	if b == nil {
		var err error
		if b, err = d.tx.CreateBucket(name); err != nil {
			return err
		}
	}
	d.way.end(d.before)
	if last, _, _ := d.way.at(); bytes.Compare(c.Key, last) > 0 {
		b.FillPercent = fillAscending
	}
	d.space, d.bucket = c.Space, b
	return nil
}

// look walks to where key is or would be, and panics if a page on the way is
// damaged. Keys ascend: where the last one led, many a following one leads too.
func (d *folder) look(key []byte) {
	if d.done || d.leaf != nil && bytes.Compare(key, d.leaf.key(d.leaf.count()-1)) <= 0 {
		return
	}
	d.way.descend(d.before, key)
	if !d.way.valid() {
		d.done = true
		return
	}
	d.found.check(&d.way)
	d.leaf, d.done = d.way.last().page, d.way.inLastLeaf()
}

// sound are the pages of the last way that was found sound.
type sound [maxDepth]page

// check panics unless every page of a way is sound.
func (s *sound) check(w *walker) {
	for i := range w.steps {
		b := w.steps[i].page
		if s[i] == nil || &s[i][0] != &b[0] {
			b.check()
			s[i] = b
		}
	}
}
