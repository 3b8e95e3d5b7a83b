package fenec

import (
	"context"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
)

// ChangeOp says what a change was.
type ChangeOp uint8

// What changes are.
const (
	ChangePut    = ChangeOp(history.Put)    // a document was written
	ChangeDel    = ChangeOp(history.Del)    // a document was deleted
	ChangeCreate = ChangeOp(history.Create) // a collection came to be
	ChangeAlter  = ChangeOp(history.Alter)  // a collection, or an index of one, changed
	ChangeDrop   = ChangeOp(history.Drop)   // a collection went
)

var changeOps = [...]string{ChangePut: "put", ChangeDel: "del", ChangeCreate: "create", ChangeAlter: "alter", ChangeDrop: "drop"}

// String returns the word for it: put, del, create, alter or drop.
func (op ChangeOp) String() string {
	if int(op) < len(changeOps) {
		return changeOps[op]
	}
	return "?"
}

// Change is what one number of the sequence stood for.
type Change struct {
	Seq        uint64
	Time       time.Time // of the block, to the millisecond
	Collection string    // "" for one that was dropped long ago
	Op         ChangeOp
	ID         uint64 // of the document that was written or deleted, else 0
}

// Changes returns what happened after the sequence since, in order, at most that
// many changes, and the sequence from which to go on. It says which documents
// were written and deleted, not what they held. Collections whose name begins
// with _ are left out. What it can go back to is bounded by
// Options.HistoryEntries and HistoryBytes, and survives the end of the process:
// a since below Horizon, or above Seq, is ErrHistoryGone.
func (db *DB) Changes(ctx context.Context, since uint64, most int) (list []Change, next uint64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, since, err
	}
	r, err := db.store.Read()
	if err != nil {
		return nil, since, public(err)
	}
	defer r.End()
	cat := db.catalogAt(r.Seq())
	next = r.Seq()
	horizon, ok, err := db.readHistory(since, r.Seq(), func(e history.Entry) bool {
		if len(list) >= most {
			next = e.Seq - 1
			return false
		}
		if e.Internal {
			return true
		}
		c := Change{Seq: e.Seq, Time: time.UnixMilli(e.At), Op: ChangeOp(e.Op), ID: e.ID}
		if col := cat.Numbered(e.Collection); col != nil {
			c.Collection = col.Name
		} else {
			c.Collection = db.history.Name(e.Collection)
		}
		list = append(list, c)
		return true
	})
	switch {
	case err != nil:
		return nil, since, public(err)
	case !ok || since > r.Seq():
		return nil, since, historyGone(since, horizon, r.Seq())
	}
	return list, next, nil
}

func historyGone(since, horizon, end uint64) error {
	return fmt.Errorf("%w: changes since %d: they are kept from %d on, and end at %d", ErrHistoryGone, since, horizon, end)
}

// Horizon returns the smallest since that Changes and Subscribe can go on from.
func (db *DB) Horizon() uint64 { return db.history.Horizon() }

// readHistory calls fn with the entries past after and up to upTo, until it
// returns false. ok is false if the history does not go back that far.
func (db *DB) readHistory(after, upTo uint64, fn func(history.Entry) bool) (horizon uint64, ok bool, err error) {
	defer base.Recover(db.Path(), base.Guard(), &err)
	return db.history.Read(db.store.Base, after, upTo, fn)
}
