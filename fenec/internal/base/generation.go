package base

import (
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// generation is one opened bbolt file. Compaction replaces it, and so does the
// first thing that is written: see openForWriting.
type generation struct {
	db   *bolt.DB
	file *os.File
}

// openGeneration opens and locks the bbolt file at path, which must exist.
func openGeneration(path string) (*generation, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("base %s: open: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("base %s: open: not a regular file", path)
	}
	if info.Size() < 2*leastPage {
		return nil, corrupt(path, "%d bytes are too few for a database", info.Size())
	}
	g, err := openSound(path, info.Size())
	if errors.Is(err, errSuspect) {
		if err := inspectLocked(path); err != nil {
			return nil, err
		}
		// Somebody was writing, and is done.
		g, err = openSound(path, info.Size())
	}
	return g, err
}

// errSuspect says that a file looks damaged, unless somebody is writing it.
var errSuspect = errors.New("the file does not make sense")

// openSound opens the file at path if it makes sense, for reading if it can be
// opened for writing later, and locks it against everybody else.
func openSound(path string, size int64) (*generation, error) {
	opts := boltOptions(size)
	opts.ReadOnly = lazily
	g, err := openBolt(path, opts, func() (*os.File, error) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		if err := inspect(f, lazily); err != nil {
			return nil, errors.Join(errSuspect, err, f.Close())
		}
		return f, nil
	})
	if err != nil || !lazily {
		return g, err
	}
	// bbolt locks what it reads against those who write, who are to be none too.
	if err := lock(g.file); err != nil {
		return nil, errors.Join(openError(path, err), g.db.Close())
	}
	return g, nil
}

// openBolt has bbolt open the file that open returns.
func openBolt(path string, opts *bolt.Options, open func() (*os.File, error)) (g *generation, err error) {
	var file *os.File
	opts.OpenFile = func(string, int, os.FileMode) (f *os.File, err error) {
		file, err = open()
		return file, err
	}
	defer func() {
		if v := recover(); v != nil {
			file.Close()
			g, err = nil, corrupt(path, "%v", v)
		}
	}()
	defer endFaults(catchFaults())
	db, err := bolt.Open(path, 0o600, opts)
	if err != nil {
		return nil, openError(path, err)
	}
	return &generation{db: db, file: file}, nil
}

func openError(path string, err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("base %s: %w", path, ErrInUse)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return corrupt(path, "%v", err)
	}
	return fmt.Errorf("base %s: open: %w", path, err)
}

// mapAhead is the least address space a file's map gets, in bytes, so that
// growing, for which every reader must be waited, is rare. It costs no memory.
// Only tests change it.
var mapAhead int64 = 1 << 30

func boltOptions(size int64) *bolt.Options {
	ahead := max(mapAhead, 4*size)
	if ^uint(0)>>32 == 0 {
		ahead = 0
	}
	return &bolt.Options{
		Timeout:         time.Nanosecond, // one attempt at the lock
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: int(ahead),
		NoStatistics:    false,
	}
}

func isStill(path string, f *os.File) (bool, error) {
	there, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	held, err := f.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(there, held), nil
}

// freeBytes returns how much of the file is free pages. Nothing is written
// meanwhile to a generation that is open for reading.
func (g *generation) freeBytes() int64 {
	if g.db.IsReadOnly() {
		return freeBytes(g.file)
	}
	st := g.db.Stats()
	return int64(st.FreePageN+st.PendingPageN) * int64(g.db.Info().PageSize)
}

// close waits for those who read the file, closes it and gives up its lock.
func (g *generation) close() error {
	if !g.db.IsReadOnly() {
		return g.db.Close()
	}
	// Closing the descriptor is not enough: a program that this process is just
	// starting has it too until it runs.
	last, serr := share(g.file)
	err := g.db.Close()
	if serr == nil {
		err = errors.Join(err, unlock(last), last.Close())
	}
	return err
}
