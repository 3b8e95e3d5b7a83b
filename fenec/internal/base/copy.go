package base

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// WriteTo writes the file as t sees it: a complete base with the same id.
func (t *Tx) WriteTo(w io.Writer) (n int64, err error) {
	defer recoverCorrupt(t.path, &err)
	defer endFaults(catchFaults())
	return t.tx.WriteTo(w)
}

// Bytes returns how much WriteTo writes.
func (t *Tx) Bytes() int64 { return t.tx.Size() }

// compactTx bounds the transactions in which a compaction writes, in bytes.
const compactTx = 8 << 20

// CompactingSuffix is what the name of a compaction's side file ends in.
const CompactingSuffix = ".compacting"

// Compact rewrites the file without its free pages and puts the copy in its
// place. Readers go on, on the old file until they let go of it. A failed
// compaction changes nothing, unless it fails with ErrUncertain.
func (f *File) Compact() (err error) {
	if f.path == "" {
		return nil
	}
	f.mu.Lock()
	old := f.gen
	f.mu.Unlock()
	if old == nil {
		return ErrClosed
	}
	side := f.path + CompactingSuffix
	if err := removeIfThere(side); err != nil {
		return err
	}
	g, err := f.copyCompact(old, side)
	if err != nil {
		return errors.Join(fmt.Errorf("base %s: compact: %w", f.path, err), removeIfThere(side))
	}
	if err := os.Rename(side, f.path); err != nil {
		return errors.Join(fmt.Errorf("base %s: compact: %w", f.path, err), g.db.Close(), removeIfThere(side))
	}
	// From here on the new file is the one that has the name.
	f.mu.Lock()
	f.retireLocked()
	f.gen = g
	f.mu.Unlock()
	if err := SyncDir(filepath.Dir(f.path)); err != nil {
		return errors.Join(fmt.Errorf("base %s: compact: %w: %w", f.path, ErrUncertain, err), old.db.Close())
	}
	return old.db.Close()
}

func (f *File) copyCompact(old *generation, side string) (g *generation, err error) {
	defer f.recoverCorrupt(&err)
	defer endFaults(catchFaults())
	if err := old.sound(); err != nil {
		return nil, err
	}
	opts := boltOptions(0)
	opts.NoSync, opts.NoGrowSync = true, true
	dst, err := bolt.Open(side, 0o600, opts)
	if err != nil {
		return nil, err
	}
	if err := bolt.Compact(dst, old.db, compactTx); err != nil {
		return nil, errors.Join(err, dst.Close())
	}
	if err := dst.Sync(); err != nil {
		return nil, errors.Join(err, dst.Close())
	}
	if err := dst.Close(); err != nil {
		return nil, err
	}
	return openGeneration(side)
}

// sound walks every tree, since bbolt copies what it comes upon without asking.
func (g *generation) sound() error {
	return g.db.View(func(tx *bolt.Tx) error {
		p := pagesOf(tx)
		v := verifier{pages: &p, path: g.path, uses: make([]use, p.count)}
		v.guard(v.trees)
		return errors.Join(v.found...)
	})
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
