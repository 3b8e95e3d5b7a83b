package plan

import (
	"bytes"
	"errors"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// sorted finds rows in the order of sort keys.
func (r *run) sorted(found *resolved) error {
	best := found.best()
	if best != nil && best.single() {
		return r.single(best, found.ids)
	}
	if r.order.index != nil && r.left.limited() && r.mayWalk() {
		ended, err := r.pageByWalk(found)
		if ended || err != nil {
			return err
		}
	}
	return r.sort(func(to sink) error { return r.fewOrScan(found, false, to) })
}

// mayWalk reports whether rows may be met in another order than that of ids: an
// error of one of them would show which order it was.
func (r *run) mayWalk() bool { return !r.on || !r.unsure && r.also == nil }

// sort picks the rows that produce produces, sorted. Those that were picked
// before it was called are passed over.
func (r *run) sort(produce func(to sink) error) error {
	picked := r.page.end - r.left.end
	r.left = page{max(r.page.skip, picked), r.page.end}
	s := newSorter(r)
	if err := produce(s); err != nil {
		return err
	}
	r.trace.sorted(r, len(s.kept))
	return s.emit()
}

// pageByWalk finds a limited number of rows through the index on what they are
// sorted by, if that promises to cost less than sorting. Unless it has ended
// the page is not full and what was picked is the beginning of it.
func (r *run) pageByWalk(found *resolved) (ended bool, err error) {
	most, err := r.worthwhile(found.ids)
	if err != nil || r.left.end > int64(most) {
		return false, err
	}
	if found.ids.last-found.ids.first <= fewEntries {
		return false, nil
	}
	spans := r.walkSpans(found)
	if others := r.others(found); len(others.options) > 0 {
		list, winner, err := r.shortest(&others, (*run).few)
		if err != nil {
			return false, err
		}
		if winner != nil {
			r.trace.option(r, winner, len(list))
			return true, r.sort(func(to sink) error { return r.points(list, false, to) })
		}
	}
	w := walk{run: r, in: found.ids, left: int64(most) * scanShare}
	r.trace.walk(r)
	err = w.spans(spans)
	if err == errGaveUp {
		r.trace.gaveUp(most)
		return false, nil
	}
	return true, err
}

// walkSpans returns the entries to be walked: those the filter leaves of the
// index, or all.
func (r *run) walkSpans(found *resolved) []span {
	ix := r.order.index
	for i := range found.options {
		if o := &found.options[i]; o.index == ix && o.ready() {
			return o.spans
		}
	}
	if r.live && ix.Kind == catalog.TTL {
		_, cutoff, _ := r.col.Cutoff(r.f.Now)
		return []span{
			{index: ix, upper: afterNull},
			{index: ix, lower: key.Next(key.Append(nil, value.Timestamp(cutoff)))},
		}
	}
	return []span{{index: ix}}
}

// others returns found without the options that a walk makes use of.
func (r *run) others(found *resolved) resolved {
	out := resolved{ids: found.ids}
	for _, o := range found.options {
		if o.index != r.order.index {
			out.options = append(out.options, o)
		}
	}
	return out
}

// walk produces rows in the order of an index.
type walk struct {
	run  *run
	in   ids
	left int64 // what it may cost until it gives up; an entry costs 1, a row scanShare

	group []byte   // the key of the value whose ids are being gathered
	list  []uint64 // these ids
}

// errGaveUp ends a walk that has read many rows and not filled the page.
var errGaveUp = errors.New("plan: a walk of an index found too little")

// longGroup is how many ids of one value are gathered to be turned around
// before they are read in the other direction instead.
const longGroup = 256

func (w *walk) spans(spans []span) error {
	for i := range spans {
		if w.run.order.desc() {
			i = len(spans) - 1 - i
		}
		s := spans[i]
		for {
			again, err := w.span(&s)
			if err != nil {
				return err
			}
			if !again {
				break
			}
		}
	}
	return nil
}

// span walks the entries of one span. After a long group of equal values, which
// it has read, it asks to be called again, with s as what is left.
func (w *walk) span(s *span) (again bool, err error) {
	desc := w.run.order.desc()
	natural := desc == w.run.order.reverse
	scan := w.run.index(s, desc)
	defer scan.Close()
	for scan.Next() {
		if err := w.run.step(); err != nil {
			return false, err
		}
		id, value := scan.ID(), scan.ValueKey()
		if natural && !key.Cut(value) {
			if err := w.flush(); err != nil {
				return false, err
			}
			if err := w.row(id); err != nil {
				return false, err
			}
			continue
		}
		if !bytes.Equal(value, w.group) {
			if err := w.begin(value); err != nil {
				return false, err
			}
		}
		w.list = append(w.list, id)
		if len(w.list) >= longGroup && !key.Cut(w.group) {
			return true, w.turn(s)
		}
	}
	if err := scan.Err(); err != nil {
		return false, err
	}
	return false, w.flush()
}

// begin produces the group that has ended and begins the next.
func (w *walk) begin(value []byte) error {
	next := bytes.Clone(value) // reading rows may move what value lies in
	if err := w.flush(); err != nil {
		return err
	}
	w.group = next
	return nil
}

// turn reads a long group in the direction of its ids, and takes it off s.
func (w *walk) turn(s *span) error {
	w.list = w.list[:0]
	lower, upper := w.group, key.Next(w.group)
	group := *s
	if s.lower == nil || bytes.Compare(s.lower, lower) < 0 {
		group.lower = lower
	}
	if upper != nil && (s.upper == nil || bytes.Compare(s.upper, upper) > 0) {
		group.upper = upper
	}
	scan := w.run.index(&group, w.run.order.reverse)
	defer scan.Close()
	for scan.Next() {
		if err := w.row(scan.ID()); err != nil {
			return err
		}
	}
	if w.run.order.desc() {
		s.upper = lower
	} else {
		s.lower = upper
	}
	return scan.Err()
}

// flush produces the rows of the group gathered.
func (w *walk) flush() error {
	list := w.list
	if len(list) == 0 {
		return nil
	}
	w.list = w.list[:0]
	if key.Cut(w.group) {
		return w.cutGroup(list)
	}
	slices.Reverse(list)
	for _, id := range list {
		if err := w.row(id); err != nil {
			return err
		}
	}
	return nil
}

// cutGroup produces the rows of values that are so long that the index holds
// their beginning only, which is the same.
func (w *walk) cutGroup(list []uint64) error {
	type entry struct {
		id   uint64
		vals []value.Value
	}
	o := &w.run.order
	entries := make([]entry, 0, len(list))
	for _, id := range list {
		err := w.run.point(id, sinkFunc(func(id uint64, b []byte) error {
			if err := w.run.f.Stand(id, b); err != nil {
				return err
			}
			vals, err := o.values(w.run.f)
			entries = append(entries, entry{id, vals})
			return err
		}))
		if err != nil {
			return err
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if sign := o.compareValues(a.vals, b.vals); sign != 0 {
			return sign
		}
		return o.compareIDs(a.id, b.id)
	})
	for _, e := range entries {
		if err := w.row(e.id); err != nil {
			return err
		}
	}
	return nil
}

// row produces one row.
func (w *walk) row(id uint64) error {
	within := id >= w.in.first && id <= w.in.last
	w.left--
	if within {
		w.left -= scanShare - 1
	}
	switch {
	case w.left < 0:
		return errGaveUp
	case !within:
		return nil
	}
	return w.run.point(id, w.run)
}
