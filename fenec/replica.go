package fenec

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/role"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/replication"
)

// Errors of databases that follow another one.
var (
	// ErrReplica is returned by every write to a database that follows: it has its
	// primary's and none of its own.
	ErrReplica = errors.New("the database is a replica")

	// ErrNotReplica is returned by Promote, TakeOver and Apply of a database that
	// follows none.
	ErrNotReplica = errors.New("the database is not a replica")

	// ErrIncomplete is returned by Promote of a database that has not caught up with
	// its primary since it began to follow it.
	ErrIncomplete = errors.New("the replica has not caught up with its primary yet")
)

// History returns what the database's file says of its part in replication. It must
// not be changed.
func (db *DB) History() replication.History { return db.role.History() }

// BeginHistory gives a database its first history if it has none and follows none,
// durably, and returns what History does: whoever is to be followed needs one.
func (db *DB) BeginHistory(ctx context.Context) (replication.History, error) {
	if h := db.History(); h.Following || len(h.Lineage) > 0 {
		return h, nil // of a database too that takes no writes any more
	}
	err := db.setHistory(ctx, func(h *replication.History, _ *uint64) error {
		if h.Following || len(h.Lineage) > 0 {
			return errUnchanged
		}
		return db.fork(h)
	})
	return db.History(), err
}

// Fork begins a new history of a database that follows none, durably, as Promote does of
// one that follows: it takes the place of all that have gone on from what it was before.
func (db *DB) Fork(ctx context.Context) (replication.History, error) {
	err := db.setHistory(ctx, func(h *replication.History, at *uint64) error {
		if h.Following {
			return ErrReplica
		}
		*at += promotionGap
		return db.fork(h)
	})
	return db.History(), err
}

// Follow makes the database one that follows a primary, or another one than before: from
// when it returns, and after every Open, each write but those that Apply makes is
// ErrReplica. That holds for sweeps, for changes of the schema and for compact statements
// too. It is incomplete until CaughtUp is called.
func (db *DB) Follow(ctx context.Context) error {
	return db.setHistory(ctx, func(h *replication.History, _ *uint64) error {
		if h.Following && h.Incomplete {
			return errUnchanged
		}
		h.Following, h.Incomplete = true, true
		return nil
	})
}

// CaughtUp says, durably, that the database holds every write that its primary held at
// some moment since it began to follow it, when the primary's Seq was seq. That is the
// database's then, so that it knows which numbers the primary may give out.
func (db *DB) CaughtUp(ctx context.Context, seq uint64) error {
	return db.setHistory(ctx, func(h *replication.History, at *uint64) error {
		switch {
		case !h.Following:
			return ErrNotReplica
		case seq > maxSeq:
			return fmt.Errorf("%w: a primary at number %d", ErrCorrupt, seq)
		case !h.Incomplete && seq <= *at:
			return errUnchanged
		}
		h.Incomplete, *at = false, max(*at, seq)
		return nil
	})
}

// TakeOver makes the lineage of the primary that of a database that follows it, durably.
// The writes that the database has must be a prefix of the primary's.
func (db *DB) TakeOver(ctx context.Context, l replication.Lineage) error {
	return db.setHistory(ctx, func(h *replication.History, _ *uint64) error {
		switch {
		case !h.Following:
			return ErrNotReplica
		case slices.Equal(h.Lineage, l):
			return errUnchanged
		}
		h.Lineage = l
		return nil
	})
}

// maxSeq is the largest number that a primary may have come to: what JavaScript holds
// exactly.
const maxSeq = 1<<53 - 1

// promotionGap is how many numbers a promotion passes over, beyond those that the old
// primary had come to when this was last told by CaughtUp. It may have handed them out for
// writes that never came here, and has passed over some itself with each unclean end.
const promotionGap = 1 << 24

// Promote makes a database that follows a primary: a new history begins after its last
// write, durably, and it takes writes of its own. No number that the old primary may have
// given to a write is given to another, unless that has gone on by itself for 16 million
// of them; so Seq jumps. A subscription that was told of a write which is not here begins
// anew.
//
// A database that is incomplete is promoted only if that is forced: it may lack what it
// once had, or what the copy has that should be promoted in its place.
func (db *DB) Promote(ctx context.Context, force bool) (replication.History, error) {
	err := db.setHistory(ctx, func(h *replication.History, at *uint64) error {
		switch {
		case !h.Following:
			return ErrNotReplica
		case h.Incomplete && !force:
			return ErrIncomplete
		}
		h.Following, h.Incomplete = false, false
		*at += promotionGap
		return db.fork(h)
	})
	if err != nil {
		return db.History(), err
	}
	return db.History(), db.abandonBuilds()
}

// fork begins a new history after the last write.
func (db *DB) fork(h *replication.History) (err error) {
	h.Lineage, err = h.Lineage.Fork(rand.Reader, db.LastWrite())
	return err
}

// errUnchanged says that there is nothing to set.
var errUnchanged = errors.New("unchanged")

// setHistory has the history changed and kept, durably, and Seq, which may become
// larger. Nobody writes meanwhile.
func (db *DB) setHistory(ctx context.Context, change func(h *replication.History, seq *uint64) error) error {
	err := db.store.Note(ctx, func() (*store.Note, error) {
		h, seq := db.History(), db.Seq()
		if err := change(&h, &seq); err != nil {
			return nil, err
		}
		passes := seq > db.Seq()
		return &store.Note{Record: role.Note(h), Seq: seq, Publish: func() {
			db.role.Set(h)
			if passes {
				db.history.Opened(seq)
				db.latest.passOver(seq)
			}
		}}, nil
	})
	switch {
	case errors.Is(err, errUnchanged):
		// Whoever set it may not have seen it on disk yet.
		return db.Sync(ctx)
	case err != nil:
		return public(err)
	}
	return nil
}

// LastWrite returns the number of the last write that the database holds. Seq may be
// past it, by numbers that nobody's write has: they are passed over after an unclean end
// and by Promote.
func (db *DB) LastWrite() uint64 { return db.history.Last() }

// SetConfirm makes fn be called, from now on, with the last sequence of each block that a
// statement, a batch, an Update or a Load has written, once that is as durable as the
// policy promises and before it is answered. Its error, if it returns one, is answered
// as an UnconfirmedError: the write stands. nil takes it away.
func (db *DB) SetConfirm(fn func(ctx context.Context, seq uint64) error) {
	if fn == nil {
		db.confirm.Store(nil)
		return
	}
	db.confirm.Store(&fn)
}

// UnconfirmedError is returned for a write that stands, but of which what SetConfirm has
// set could not say that it was as safe as it should be.
type UnconfirmedError struct {
	Seq uint64 // of the write
	Err error
}

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("written as change %d, but not confirmed: %v", e.Seq, e.Err)
}

// Unwrap returns why.
func (e *UnconfirmedError) Unwrap() error { return e.Err }

// Reconfirm returns once all that was written before the call is on disk, whatever the
// policy, and is confirmed as the last write of it was to be. It is for whoever tells
// again that something is written. Its errors are those of a write that stands.
func (db *DB) Reconfirm(ctx context.Context) error {
	last := db.LastWrite()
	if err := db.Sync(ctx); err != nil {
		return err
	}
	confirm := db.confirm.Load()
	if confirm == nil {
		return nil
	}
	if err := (*confirm)(ctx, last); err != nil {
		return &UnconfirmedError{last, err}
	}
	return nil
}

// confirmed waits until a block is as durable as the policy promises, and confirmed.
func (db *DB) confirmed(ctx context.Context, t store.Ticket) error {
	if err := durable(ctx, t); err != nil {
		return err
	}
	confirm := db.confirm.Load()
	if confirm == nil || t.To < t.From {
		return nil
	}
	if err := (*confirm)(ctx, t.To); err != nil {
		return &UnconfirmedError{t.To, err}
	}
	return nil
}
