package base

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

const (
	// compactTx bounds the transactions in which a compaction writes, in bytes.
	compactTx = 2 << 20

	// compactFill is how full it leaves pages.
	compactFill = 0.9
)

// CompactingSuffix is what the name of a compaction's side file ends in.
const CompactingSuffix = ".compacting"

// Compaction rewrites a file without its free pages while reads and folds go
// on. Copy makes a side file of what the file held when the compaction began,
// CatchUp brings it nearer to what has been folded since, and Install brings in
// the rest and puts it in the file's place. A compaction that fails, or is given
// up by Cancel, changes nothing, unless it fails with ErrUncertain.
type Compaction struct {
	f    *File
	tx   *bolt.Tx // what is copied; nil once it is
	side string
	dst  *bolt.DB
	tee  *delta
}

// BeginCompaction begins a compaction of the file as it is. The file is not one
// in memory, and no other compaction of it is going on.
func (f *File) BeginCompaction() (c *Compaction, err error) {
	if f.gen == nil {
		return nil, ErrClosed
	}
	c = &Compaction{f: f, side: f.path + CompactingSuffix}
	if err := c.begin(); err != nil {
		c.Cancel()
		return nil, c.failed(err)
	}
	f.tee = c.tee
	return c, nil
}

func (c *Compaction) begin() (err error) {
	if err := removeIfThere(c.side); err != nil {
		return err
	}
	opts := boltOptions(c.f.Size())
	opts.NoSync, opts.NoGrowSync = true, true
	if c.dst, err = bolt.Open(c.side, 0o600, opts); err != nil {
		return err
	}
	if c.tee, err = newDelta(filepath.Dir(c.f.path)); err != nil {
		return err
	}
	c.tx, err = c.f.gen.db.Begin(false)
	return err
}

func (c *Compaction) failed(err error) error {
	return fmt.Errorf("base %s: compact: %w", c.f.path, err)
}

// Copy copies what the file held when the compaction began, until ctx ends.
func (c *Compaction) Copy(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, c.letGo()) }()
	defer c.f.recoverCorrupt(&err)
	defer endFaults(catchFaults())
	if err := c.sound(); err != nil {
		return c.failed(err)
	}
	w := sideWriter{db: c.dst}
	defer w.rollback()
	err = c.tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		if err := w.enter(name); err != nil {
			return err
		}
		return b.ForEach(func(k, v []byte) error {
			if w.size > compactTx && ctx.Err() != nil {
				return ctx.Err()
			}
			return w.put(k, v)
		})
	})
	if err == nil {
		err = w.commit()
	}
	if err != nil {
		return c.failed(err)
	}
	return nil
}

// sound walks every tree, since bbolt copies what it comes upon without asking.
func (c *Compaction) sound() error {
	p := pagesOf(c.tx)
	v := verifier{pages: &p, path: c.f.path, uses: make([]use, p.count)}
	v.guard(v.trees)
	return errors.Join(v.found...)
}

func (c *Compaction) letGo() error {
	if c.tx == nil {
		return nil
	}
	tx := c.tx
	c.tx = nil
	return tx.Rollback()
}

// CatchUp folds into the side file what has been folded into the file so far,
// brings it to disk, and returns how many bytes of changes that were.
func (c *Compaction) CatchUp() (n int64, err error) {
	n, err = c.tee.replay(func(seq uint64, changes []Change) error {
		return c.dst.Update(func(tx *bolt.Tx) error { return refold(tx, seq, changes) })
	})
	if err == nil {
		err = c.dst.Sync()
	}
	if err != nil {
		return n, c.failed(err)
	}
	return n, nil
}

// refold makes the changes of a fold once more.
func refold(tx *bolt.Tx, seq uint64, changes []Change) error {
	var b *bolt.Bucket
	for i := range changes {
		c := &changes[i]
		name := spaceName(c.Space)
		if c.Op == OpDropSpace {
			if tx.Bucket(name) != nil {
				if err := tx.DeleteBucket(name); err != nil {
					return err
				}
			}
			b = nil
			continue
		}
		if b == nil || changes[i-1].Space != c.Space {
			var err error
			if b, err = tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		if err := redo(b, c); err != nil {
			return err
		}
	}
	return tx.Bucket(metaBucket).Put(keySeq, binary.BigEndian.AppendUint64(nil, seq))
}

func redo(b *bolt.Bucket, c *Change) error {
	if c.Op == OpDelete {
		return b.Delete(c.Key)
	}
	return b.Put(c.Key, c.Value)
}

// Install brings what is missing into the side file and puts it in the place of
// the file. Readers go on, on the old file until they let go of it.
func (c *Compaction) Install() error {
	g, err := c.complete()
	if err != nil {
		c.Cancel()
		return c.failed(err)
	}
	if err := os.Rename(c.side, c.f.path); err != nil {
		return c.failed(errors.Join(err, g.close(), removeIfThere(c.side)))
	}
	// From here on the new file is the one that has the name.
	f, old := c.f, c.f.gen
	f.succeed(g)
	// This waits for those who read the old file, which has no name any more.
	f.closing.Go(func() { _ = old.close() })
	if err := SyncDir(filepath.Dir(f.path)); err != nil {
		return c.failed(fmt.Errorf("%w: %w", ErrUncertain, err))
	}
	return nil
}

// complete ends the copying and opens the side file as what it is to be.
func (c *Compaction) complete() (*generation, error) {
	if c.f.gen == nil {
		return nil, ErrClosed
	}
	if _, err := c.CatchUp(); err != nil {
		return nil, err
	}
	if c.tee.failed != nil {
		return nil, c.tee.failed
	}
	c.endTee()
	dst := c.dst
	c.dst = nil
	if err := dst.Close(); err != nil {
		return nil, err
	}
	return openGeneration(c.side)
}

func (c *Compaction) endTee() {
	if c.f.tee == c.tee {
		c.f.tee = nil
	}
	c.tee.close()
	c.tee = nil
}

// Cancel gives the compaction up. As Install it is called while nothing is
// folded; after Install it does nothing.
func (c *Compaction) Cancel() {
	_ = c.letGo()
	if c.tee != nil {
		c.endTee()
	}
	if c.dst == nil {
		return
	}
	_ = c.dst.Close()
	c.dst = nil
	_ = removeIfThere(c.side)
}

// sideWriter writes ascending keys in transactions of bounded size.
type sideWriter struct {
	db   *bolt.DB
	tx   *bolt.Tx // or nil
	name []byte   // of the bucket that keys go to
	b    *bolt.Bucket
	size int // written in tx, bytes
}

// enter goes on to another bucket.
func (w *sideWriter) enter(name []byte) error {
	w.name = append(w.name[:0], name...)
	return w.open()
}

func (w *sideWriter) open() (err error) {
	if w.tx == nil {
		if w.tx, err = w.db.Begin(true); err != nil {
			return err
		}
		w.size = 0
	}
	w.b, err = w.tx.CreateBucketIfNotExists(w.name)
	if err == nil {
		w.b.FillPercent = compactFill
	}
	return err
}

func (w *sideWriter) put(k, v []byte) error {
	if w.size > compactTx {
		if err := w.commit(); err != nil {
			return err
		}
		if err := w.open(); err != nil {
			return err
		}
	}
	w.size += len(k) + len(v)
	return w.b.Put(k, v)
}

// commit ends the transaction and brings it to disk, a piece at a time: what
// waits to be written would hold up every flush of another file until it is.
func (w *sideWriter) commit() error {
	tx := w.tx
	w.tx = nil
	if tx == nil {
		return nil
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return w.db.Sync()
}

func (w *sideWriter) rollback() {
	if w.tx != nil {
		_ = w.tx.Rollback()
	}
}
