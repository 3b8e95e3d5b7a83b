package fenec

import (
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Errors of statements, by kind. Match them with errors.Is; the text of what
// is returned begins with the kind and names what was wrong.
var (
	ErrQuery     error = &fault.Error{Kind: fault.Query}     // cannot be understood or carried out
	ErrType      error = &fault.Error{Kind: fault.Type}      // a value does not fit
	ErrNotFound  error = &fault.Error{Kind: fault.NotFound}  // no such collection or field
	ErrExists    error = &fault.Error{Kind: fault.Exists}    // the name is there already
	ErrDuplicate error = &fault.Error{Kind: fault.Duplicate} // an id or a unique value is taken
	ErrUnmet     error = &fault.Error{Kind: fault.Unmet}     // the number that require names is not the one found
	ErrReadOnly  error = &fault.Error{Kind: fault.ReadOnly}  // a write where only reads are allowed
	ErrDenied    error = &fault.Error{Kind: fault.Denied}    // a policy does not allow it
	ErrOverLimit error = &fault.Error{Kind: fault.OverLimit} // a limit set with SetLimit refused the write
	ErrPlugin    error = &fault.Error{Kind: fault.Plugin}    // a function of Options.Functions failed
)

// Errors of the database.
var (
	// ErrClosed is returned by everything after Close.
	ErrClosed = store.ErrClosed

	// ErrInUse is returned by Open when another process, or another DB of this
	// one, holds the file.
	ErrInUse = base.ErrInUse

	// ErrCorrupt is returned when a file does not hold what was written to it.
	// The message names the file and the place.
	ErrCorrupt = errors.New("corrupt")

	// ErrSnapshotTooOld is returned by a read that was held for so long that
	// it stood in the way of writers.
	ErrSnapshotTooOld = store.ErrSnapshotTooOld

	// ErrBlockTooLarge is returned when a statement or a batch changes more
	// than Options.BlockBytes. Nothing of it is kept.
	ErrBlockTooLarge = store.ErrBlockTooLarge

	// ErrMemory is returned by statements that put, insert, set or create an index
	// while the database holds as much memory as Options.MaxMemory or more. Nothing
	// of them is kept. All others go on, del and compact among them.
	ErrMemory = errors.New("the memory is full")

	// ErrFailed is returned by every write after the disk refused one: what is
	// on it is not known until the database is opened again. Reads go on.
	ErrFailed = store.ErrFailed

	// ErrHistoryGone is returned by Changes for a sequence from which the kept
	// changes do not go on: below the horizon, or ahead of the database.
	ErrHistoryGone = errors.New("the history does not reach")

	// ErrImage is returned by Install for bytes that are not one whole image.
	ErrImage = store.ErrImage
)

// Over returns an error that matches ErrOverLimit, for functions given to
// SetLimit.
func Over(format string, args ...any) error { return fault.New(fault.OverLimit, format, args...) }

// Denied returns an error that matches ErrDenied, for functions given to SetHook
// and in an Access.
func Denied(format string, args ...any) error { return fault.New(fault.Denied, format, args...) }

// damaged are the lower layers' words for ErrCorrupt.
var damaged = []error{base.ErrCorrupt, wal.ErrCorrupt, row.ErrCorrupt, catalog.ErrCorrupt, table.ErrCorrupt,
	history.ErrCorrupt, feed.ErrCorrupt, posting.ErrCorrupt, hnsw.ErrCorrupt}

// public makes err one that matches this package's errors.
func public(err error) error {
	if err == nil || errors.Is(err, ErrCorrupt) {
		return err
	}
	for _, d := range damaged {
		if errors.Is(err, d) {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	return err
}
