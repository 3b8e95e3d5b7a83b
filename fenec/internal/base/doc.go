// Package base is the folded part of a database: one bbolt file that holds
// every key of every space as of one change sequence.
//
// A [File] is written by folds only. A fold applies a run of changes in one
// bbolt transaction and moves the sequence up to which the file is complete,
// so a crash leaves the file as it was before the fold or after it. Readers
// share short read transactions ([Tx]); they never wait for a fold, and a fold
// waits for them only while the file's memory map has to grow.
//
// A file is opened for reading, which costs the same however large it is and
// however many of its pages are free, and opened for writing by its first fold,
// under the same lock. Where the system has no such locks it is opened for
// writing at once.
//
// Layout: a top-level bucket "fenec" holds the format version, the file's
// random id and the folded sequence. Every space is a top-level bucket named
// by its number, four bytes big endian.
//
// bbolt's pages carry no checksums. A page that does not make sense, a file
// cut short and a fault while reading the map are all reported as [ErrCorrupt];
// none of them ends the process. Damage inside a value is for its owner to
// find: rows carry checksums of their own.
package base

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrCorrupt is returned when the file cannot be what was written. The message
// names the file and what was found.
var ErrCorrupt = errors.New("corrupt")

// ErrInUse is returned when another process, or another open database of this
// process, holds the file.
var ErrInUse = errors.New("in use")

// ErrUncertain is returned when a compacted file is in its place, but a crash
// may bring back the one before: nothing that is folded from then on can be
// relied upon.
var ErrUncertain = errors.New("the directory may not be on disk")

// ErrNotExist is returned when there is no file to open.
var ErrNotExist = fs.ErrNotExist

func corrupt(path, format string, args ...any) error {
	return fmt.Errorf("base %s: %w: %s", path, ErrCorrupt, fmt.Sprintf(format, args...))
}
