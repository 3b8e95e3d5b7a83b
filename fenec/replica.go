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
)

// History returns what the database's file says of its part in replication. It must
// not be changed.
func (db *DB) History() replication.History { return db.role.History() }

// BeginHistory gives a database its first history if it has none and follows none,
// durably, and returns what History does: whoever is to be followed needs one.
func (db *DB) BeginHistory(ctx context.Context) (replication.History, error) {
	err := db.setHistory(ctx, func(h *replication.History) error {
		if h.Following || len(h.Lineage) > 0 {
			return errUnchanged
		}
		return db.fork(h)
	})
	return db.History(), err
}

// Follow makes the database one that follows: from when it returns, and after every
// Open, each write but those that Apply makes is ErrReplica. That holds for sweeps, for
// changes of the schema and for compact statements too.
func (db *DB) Follow(ctx context.Context) error {
	return db.setHistory(ctx, func(h *replication.History) error {
		if h.Following {
			return errUnchanged
		}
		h.Following = true
		return nil
	})
}

// TakeOver makes the lineage of the primary that of a database that follows it, durably.
// The writes that the database has must be a prefix of the primary's.
func (db *DB) TakeOver(ctx context.Context, l replication.Lineage) error {
	return db.setHistory(ctx, func(h *replication.History) error {
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

// promotionGap is how many numbers a promotion passes over. The primary may have handed
// them out for writes that never came here; some of them more than once, since each
// unclean end of it has passed over some too.
const promotionGap = 1 << 24

// Promote makes a database that follows a primary: a new history begins after its last
// write, durably, and it takes writes of its own. No number that the old primary may have
// given to a write is given to another, unless that has gone on by itself for 16 million
// of them; so Seq jumps. A subscription that was told of a write which is not here begins
// anew.
func (db *DB) Promote(ctx context.Context) (replication.History, error) {
	err := db.setHistory(ctx, func(h *replication.History) error {
		if !h.Following {
			return ErrNotReplica
		}
		h.Following = false
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

// setHistory has the history changed and kept, durably. Nobody writes meanwhile.
func (db *DB) setHistory(ctx context.Context, change func(*replication.History) error) error {
	err := db.store.Note(ctx, func() (*store.Note, error) {
		before := db.History()
		h := before
		if err := change(&h); err != nil {
			return nil, err
		}
		n := &store.Note{Record: role.Note(h), Seq: db.Seq()}
		if before.Following && !h.Following {
			n.Seq += promotionGap
		}
		n.Publish = func() {
			db.role.Set(h)
			db.history.Opened(n.Seq)
		}
		return n, nil
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
