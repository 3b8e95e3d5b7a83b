package wal

import (
	"errors"
	"fmt"
)

// Errors of reading a log.
var (
	// ErrCorrupt is matched by every CorruptError: bytes that were known to
	// be on disk are not what was written. Nothing is cut or repaired.
	ErrCorrupt = errors.New("log is damaged")

	// ErrForeign is returned for a log that belongs to another base. Its
	// blocks must never be replayed into this one.
	ErrForeign = errors.New("log belongs to another base")

	// ErrVersion is returned for a log written by a newer version of the
	// format than this code knows.
	ErrVersion = errors.New("log has an unknown format version")

	// ErrEmpty is returned by ReadHeader for a file whose creation was
	// interrupted before its header reached it.
	ErrEmpty = errors.New("log has no header yet")
)

// Errors of writing a log.
var (
	// ErrFailed is returned by every write after a write or a flush of the
	// file failed. What the disk holds is then unknown until the log is
	// opened again, so nothing is retried.
	ErrFailed = errors.New("writes are refused after a failure of the log")

	// ErrClosed is returned by methods of a closed log.
	ErrClosed = errors.New("log is closed")

	// ErrOrder is returned for a block that does not follow the blocks
	// before it, or for parts that do not belong together. The log is not
	// changed.
	ErrOrder = errors.New("block is out of order")

	// ErrTooLarge is returned for a payload longer than MaxPayload.
	ErrTooLarge = errors.New("payload is too large for one frame")
)

// A CorruptError says where a log is damaged. It matches ErrCorrupt.
type CorruptError struct {
	Path   string
	Offset int64 // of the frame or header that cannot be read
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: %s at offset %d: %s", e.Path, ErrCorrupt, e.Offset, e.Reason)
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }
