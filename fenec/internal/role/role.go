// Package role remembers a database's part in replication: its
// [replication.History], which says what its writes go on from and whether it takes
// any of its own.
//
// It is set by a note in the store's log, which takes no number of the sequence, and
// goes into the base with the next fold. It has a space of its own, [Space], with one
// key, "history", whose value is the encoded history, followed by its CRC32C as rows
// are (package row). A database without the key never replicated.
package role

import (
	"fmt"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/replication"
)

// Space is the space of the role. No collection has that number.
const Space = ^uint32(0) - 3

var key = []byte("history")

// Role is the part of one database. Reading it is safe for concurrent use; it is set
// under the store's write lock, and folded under its folding lock.
type Role struct {
	now    atomic.Pointer[replication.History]
	folded atomic.Pointer[replication.History] // what the base holds
	taken  *replication.History                // by the last Fold
}

// New returns the role of a new database, which never replicated.
func New() *Role {
	r := new(Role)
	r.set(new(replication.History))
	r.folded.Store(r.now.Load())
	return r
}

func (r *Role) set(h *replication.History) { r.now.Store(h) }

// History returns the history of the moment, which must not be changed.
func (r *Role) History() replication.History { return *r.now.Load() }

// Set makes h the history. It is to be in the log already.
func (r *Role) Set(h replication.History) { r.set(&h) }

// Load reads what the base holds that v sees. Call it before anything else.
func (r *Role) Load(v *store.View) error {
	b, err := v.Get(Space, key)
	if b == nil || err != nil {
		return err
	}
	h, err := decode(b)
	if err != nil {
		return err
	}
	r.set(&h)
	r.folded.Store(r.now.Load())
	return nil
}

func decode(b []byte) (replication.History, error) {
	data, err := row.Open(b)
	if err != nil {
		return replication.History{}, fmt.Errorf("the history of replication: %w", err)
	}
	h, err := replication.DecodeHistory(data)
	if err != nil {
		return h, fmt.Errorf("the history of replication: %w: %w", row.ErrCorrupt, err)
	}
	return h, nil
}

// Note returns what is written to the log for h.
func Note(h replication.History) []byte { return h.AppendRecord(nil) }

// Take makes what a note of the log says the history.
func (r *Role) Take(note []byte) error {
	h, err := replication.DecodeRecord(note)
	if err != nil {
		return fmt.Errorf("a note of the log: %w: %w", row.ErrCorrupt, err)
	}
	r.set(&h)
	return nil
}

// Change returns what is folded for h.
func Change(h replication.History) base.Change {
	return base.Change{Space: Space, Key: key, Value: row.Seal(h.Append(nil))}
}

// Fold returns what a fold writes. With Folded and Waits it makes a Role a store.Owner.
func (r *Role) Fold(*base.Tx, uint64) ([]base.Change, error) {
	r.taken = nil
	if !r.Waits() {
		return nil, nil
	}
	r.taken = r.now.Load()
	return []base.Change{Change(*r.taken)}, nil
}

// Folded says that what Fold returned is in the base.
func (r *Role) Folded(uint64) {
	if r.taken != nil {
		r.folded.Store(r.taken)
		r.taken = nil
	}
}

// Waits reports whether the base holds another history.
func (r *Role) Waits() bool { return r.now.Load() != r.folded.Load() }

// Verify says what is wrong with what the base holds that v sees.
func Verify(v *store.View) error { return New().Load(v) }
