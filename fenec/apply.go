package fenec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// ErrGap is returned by Apply for records that do not go on from the database's last
// write.
var ErrGap = errors.New("the records do not go on from the last write")

// Apply makes the writes of records of the primary that a database follows, back to back,
// as FeedBlocks has given them there: each is a block, whole or not at all, and has the
// numbers and the time that it has on the primary; times are in milliseconds since 1970,
// one a record. It returns the last write that was applied, as durable as the policy
// promises. Neither policies nor limits, hooks and the fence are asked.
//
// A record that does not go on from what is here is ErrGap, and one that cannot be
// applied to it ErrCorrupt: what came before it stands. What cannot be applied will not
// be the next time either; the database needs an image. One goroutine at a time may call
// it.
func (db *DB) Apply(ctx context.Context, records []byte, times []int64) (last uint64, err error) {
	last = db.LastWrite()
	if !db.History().Following {
		return last, ErrNotReplica
	}
	var ticket store.Ticket
	for i := 0; len(records) > 0; i++ {
		var r record
		if r, records, err = cutRecord(records); err == nil && i >= len(times) {
			err = fmt.Errorf("%w: %d times for more records", ErrCorrupt, len(times))
		}
		if err == nil {
			ticket, err = db.applyBlock(ctx, r, time.UnixMilli(times[i]))
		}
		if err != nil {
			return last, err
		}
		last = ticket.To
	}
	return last, durable(ctx, ticket)
}

func (db *DB) applyBlock(ctx context.Context, r record, at time.Time) (store.Ticket, error) {
	if err := db.buildInstalled(ctx, r); err != nil {
		return store.Ticket{}, fmt.Errorf("the block at %d: %w", r.first, public(err))
	}
	if last := db.LastWrite(); r.before != last || r.first <= db.Seq() {
		return store.Ticket{}, fmt.Errorf("%w: the block at %d goes on from %d, here is %d", ErrGap, r.first, r.before, last)
	}
	b, err := db.store.BeginAt(ctx, r.first, at)
	if err != nil {
		return store.Ticket{}, public(err)
	}
	if !db.History().Following { // since it was asked
		b.Rollback()
		return store.Ticket{}, ErrNotReplica
	}
	ticket, err := db.commitApplied(b, r)
	if err != nil {
		return ticket, fmt.Errorf("the block at %d: %w", r.first, public(err))
	}
	return ticket, nil
}

// commitApplied makes the changes of r in b and ends it.
func (db *DB) commitApplied(b *store.Block, r record) (ticket store.Ticket, err error) {
	defer base.Recover(db.Path(), base.Guard(), &err)
	w := blocks.Get().(*block)
	defer w.release()
	w.db, w.session, w.block = db, &db.own, b
	w.before = db.catalogAt(b.Seq())
	ended := false
	defer func() {
		if !ended {
			b.Rollback()
		}
	}()
	if w.tx, w.catalog, err = db.figures.Apply(b, w.before, r.operations); err != nil {
		return ticket, err
	}
	return w.commit(&ended)
}

// buildInstalled makes the entries of the indexes that r installs. The primary has made
// them beside its writes, in no block.
func (db *DB) buildInstalled(ctx context.Context, r record) error {
	altered, err := table.Altered(r.operations)
	if err != nil {
		return err
	}
	for _, after := range altered {
		before := db.catalogNow().Numbered(after.Number)
		if before == nil {
			continue // applying it will tell
		}
		for _, x := range before.Building {
			if err := db.buildAsInstalled(ctx, before, after, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// buildAsInstalled makes the entries of x if after has it built.
func (db *DB) buildAsInstalled(ctx context.Context, before, after *catalog.Collection, x *catalog.Index) error {
	if !after.Installs(x) {
		return nil
	}
	if err := db.Sync(ctx); err != nil { // see indexBuild.begin
		return err
	}
	b := indexBuild{db: db, col: before.Number, index: x}
	for next := uint64(1); next != 0; {
		if err := b.fill(ctx, &next); err != nil {
			return err
		}
	}
	return nil
}
