package fenec

import (
	"context"
	"reflect"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
)

// WaitSeq returns once readers see everything up to seq, at once if they do
// already.
func (db *DB) WaitSeq(ctx context.Context, seq uint64) error {
	if db.Seq() >= seq {
		return ctx.Err()
	}
	t, err := db.watch.join(everything)
	if err != nil {
		return err
	}
	defer db.watch.leave(t)
	for {
		seen := db.Seq()
		if seen >= seq {
			return nil
		}
		if _, err := db.watch.wait(ctx, t, seen, nil); err != nil {
			return err
		}
	}
}

// Changed reports whether one of the collections was written to, or its definition
// changed, past the sequence since. Without any it is about all but those whose
// name begins with _. It looks into memory for what happened since the database
// was opened, and once into the history for what was before: asking again while
// nothing is written costs next to nothing. Where the history does not go back far
// enough to tell, and for a since above Seq or among numbers whose writes may have
// been lost with a machine's power, it returns ErrHistoryGone.
func (db *DB) Changed(ctx context.Context, since uint64, collections ...string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	r, err := db.store.Read()
	if err != nil {
		return false, public(err)
	}
	defer r.End()
	topics, err := topicsOf(db.catalogAt(r.Seq()), collections)
	if err != nil {
		return false, err
	}
	if since > r.Seq() {
		return false, historyGone(since, db.Horizon(), r.Seq())
	}
	for _, number := range topics {
		if written, err := db.writtenPast(ctx, number, since, r.Seq()); written || err != nil {
			return written, err
		}
	}
	for i, number := range topics {
		// What is forgotten of a dropped collection looks as if it never was.
		if number != everyone && db.catalogNow().Numbered(number) == nil {
			return false, noCollection(collections[i])
		}
	}
	return false, nil
}

// topicsOf returns the numbers of the topics that names stand for.
func topicsOf(cat *catalog.Catalog, names []string) ([]uint32, error) {
	if len(names) == 0 {
		return []uint32{everyone}, nil
	}
	numbers := make([]uint32, len(names))
	for i, name := range names {
		c, err := cat.Collection(name)
		if err != nil {
			return nil, err
		}
		numbers[i] = c.Number
	}
	return numbers, nil
}

// checkedEntries is after how many entries of the history the context is looked at.
const checkedEntries = 4096

// writtenPast reports whether a topic was written to past since, up to seen.
func (db *DB) writtenPast(ctx context.Context, number uint32, since, seen uint64) (bool, error) {
	written, known := db.latest.past(number, since, seen)
	if known {
		return written, nil
	}
	if horizon := db.Horizon(); since < horizon || !db.history.Sure(since) {
		return false, historyGone(since, horizon, seen)
	}
	entries := 0
	horizon, ok, err := db.readHistory(since, db.latest.since(), func(e history.Entry) bool {
		written = e.Collection == number || number == everyone && !e.Internal
		entries++
		return !written && (entries%checkedEntries > 0 || ctx.Err() == nil)
	})
	switch {
	case err != nil:
		return false, public(err)
	case ctx.Err() != nil:
		return false, ctx.Err()
	case !ok:
		return false, historyGone(since, horizon, seen)
	case !written:
		db.latest.rests(number, since)
	}
	return written, nil
}

// WaitChange waits until Changed reports that one of the collections was written
// to past since, or returns an error: a collection that is dropped is ErrNotFound.
func (db *DB) WaitChange(ctx context.Context, since uint64, collections ...string) error {
	topics, err := topicsOf(db.catalogAt(db.Seq()), collections)
	if err != nil {
		return err
	}
	joined, err := db.watch.joinAll(topics)
	if err != nil {
		return err
	}
	defer db.watch.leaveAll(joined)
	for {
		seen := db.Seq()
		if changed, err := db.Changed(ctx, since, collections...); changed || err != nil {
			return err
		}
		if err := db.watch.waitAny(ctx, joined, seen); err != nil {
			return err
		}
	}
}

// joinAll joins several topics.
func (w *watch) joinAll(numbers []uint32) ([]*topic, error) {
	topics := make([]*topic, len(numbers))
	for i, number := range numbers {
		t, err := w.join(number)
		if err != nil {
			w.leaveAll(topics[:i])
			return nil, err
		}
		topics[i] = t
	}
	return topics, nil
}

func (w *watch) leaveAll(topics []*topic) {
	for _, t := range topics {
		w.leave(t)
	}
}

// waitAny returns when one of the topics has been written to after cursor.
func (w *watch) waitAny(ctx context.Context, topics []*topic, cursor uint64) error {
	if len(topics) == 1 {
		_, err := w.wait(ctx, topics[0], cursor, nil)
		return err
	}
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())}}
	for _, t := range topics {
		a, _, err := w.await(t, cursor)
		if a == nil {
			return err
		}
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(a.done)})
	}
	reflect.Select(cases)
	return ctx.Err()
}
