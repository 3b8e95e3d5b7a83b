package base

import (
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"
)

// openForWriting prepares the file for a fold. Before the first one it is open
// for reading only: to write, bbolt has to know every free page, and to read
// their list takes the longer the more there are, for which nobody is to wait
// who opens the file in order to read it. Readers go on meanwhile, and, unless
// this fails with errLockLost, when it has failed.
func (f *File) openForWriting() error {
	old := f.gen
	if old == nil {
		return ErrClosed
	}
	if !old.db.IsReadOnly() {
		return nil
	}
	g, held, err := old.reopen(f.path, f.Size())
	if errors.Is(err, errLockLost) {
		f.succeed(nil)
		f.closing.Go(func() { _ = old.close() })
	}
	if err != nil {
		return fmt.Errorf("open for writing: %w", err)
	}
	f.succeed(g)
	f.closing.Go(func() {
		_ = old.db.Close() // waits for those who read there
		_ = held.Rollback()
	})
	return nil
}

// succeed puts a generation, or none, in the place of the one there is.
func (f *File) succeed(g *generation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retireLocked()
	f.gen = g
}

// reopen opens for writing the file that g has open for reading, under the same
// lock. Nothing has been written since, so that held sees what the readers of g
// see: while it is open no page of theirs is used for anything else.
func (g *generation) reopen(path string, size int64) (w *generation, held *bolt.Tx, err error) {
	if err := inspect(g.file, false); err != nil {
		return nil, nil, corrupt(path, "%v", err)
	}
	before, err := newestMeta(g.file)
	if err != nil {
		return nil, nil, corrupt(path, "%v", err)
	}
	w, err = openBolt(path, boltOptions(size), func() (*os.File, error) { return share(g.file) })
	if err == nil {
		if held, err = w.db.Begin(false); err == nil {
			return w, held, nil
		}
		err = errors.Join(err, w.db.Close())
	}
	return nil, nil, errors.Join(err, g.retakeLock(before))
}

// errLockLost is returned when the file may have been written by somebody else,
// so that what is read from it can no longer be relied upon.
var errLockLost = errors.New("its lock is lost")

// retakeLock takes the lock that bbolt gives up as it fails to open the file.
// It fails with errLockLost if somebody else has it, or had it and has written.
func (g *generation) retakeLock(before meta) error {
	if err := lock(g.file); err != nil {
		return errors.Join(errLockLost, err)
	}
	if now, err := newestMeta(g.file); err != nil || now != before {
		return errors.Join(errLockLost, err)
	}
	return nil
}
