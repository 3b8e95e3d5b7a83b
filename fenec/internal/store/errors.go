package store

import (
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

var (
	// ErrClosed is returned by everything after Close.
	ErrClosed = errors.New("database is closed")

	// ErrSnapshotTooOld is returned by the reads of a snapshot that was held
	// for so long that it stood in the way of writers.
	ErrSnapshotTooOld = errors.New("snapshot too old: the read was held too long")

	// ErrBlockTooLarge is returned when one block changes more than fits in
	// memory at once.
	ErrBlockTooLarge = errors.New("block too large")

	// ErrFailed is returned by every write after the file refused an append, a
	// sync or a fold. Reads go on; reopening shows what is on disk.
	ErrFailed = errors.New("writes are refused until the database is reopened")
)

// fail latches the first failure to write and returns it.
func (s *Store) fail(err error) error {
	failure := fmt.Errorf("%w: %w", ErrFailed, err)
	s.failure.CompareAndSwap(nil, &failure)
	s.synced.tell()
	return *s.failure.Load()
}

// failed returns the latched failure, or nil.
func (s *Store) failed() error {
	if p := s.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// closedOr returns ErrClosed in place of the base's own word for it.
func (s *Store) closedOr(err error) error {
	if errors.Is(err, base.ErrClosed) {
		return ErrClosed
	}
	return err
}
