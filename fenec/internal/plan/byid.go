package plan

import (
	"math"
)

const (
	// fewEntries is how many index entries are read without asking whether a
	// scan would cost less.
	fewEntries = 64

	// scanShare is the part of a collection from which on scanning it costs less
	// than reading the rows of index entries one by one.
	scanShare = 8

	// seekCost is how many entries one after the other cost as much as one that
	// is looked for.
	seekCost = 3

	// scanAhead is how many rows are scanned, for each that is wanted, before the
	// entries of a range are gathered.
	scanAhead = 32
)

// byID finds rows by ascending or descending id.
func (r *run) byID(found *resolved) error {
	reverse := r.order.reverse
	best := found.best()
	if best != nil && best.single() {
		return r.single(best, found.ids)
	}
	if r.left.limited() {
		return r.pageByID(found, reverse)
	}
	return r.fewOrScan(found, reverse, r)
}

// fewOrScan produces the rows of the shortest option, or scans if there is none
// or all are long. They come by id.
func (r *run) fewOrScan(found *resolved, reverse bool, to sink) error {
	if len(found.options) > 0 {
		list, winner, err := r.shortest(found, (*run).worthwhile)
		if err != nil {
			return err
		}
		if winner != nil {
			r.trace.option(r, winner, len(list))
			return r.points(list, reverse, to)
		}
	}
	r.trace.scan(found.ids)
	return r.scan(found.ids, reverse, to)
}

// worthwhile returns how many rows cost less to be read one by one than a scan
// of all those with ids in a range.
func (r *run) worthwhile(in ids) (int, error) {
	n, err := r.rows()
	if span := in.last - in.first; span < uint64(n) {
		n = int64(span)
	}
	return max(int(n/scanShare), fewEntries), err
}

// affordable returns how many rows cost less to be read than what may take their
// place.
func (r *run) affordable(in ids) (int, error) {
	if r.left.limited() {
		return r.few(in)
	}
	return r.worthwhile(in)
}

// few returns how many rows cost less to be read than it takes to fill the page
// from rows in order, of which a part passes. When m of N rows pass, a page of n
// takes n*N/m of them, so that m is the lesser up to the root of n*N. Gathering
// entries to find out costs something too, hence the half.
func (r *run) few(ids) (int, error) {
	n, err := r.rows()
	root := math.Sqrt(float64(n) * float64(min(r.left.end, n)))
	return max(int(root/2), fewEntries), err
}

// single picks the row of an option that is one at most.
func (r *run) single(o *option, in ids) error {
	r.racer.begin(r, o, r.list)
	if _, err := r.racer.advance(1); err != nil {
		return err
	}
	r.list = r.racer.list
	list := r.racer.ids(in)
	r.trace.option(r, o, len(list))
	return r.points(list, false, r)
}

// pageByID finds a limited number of rows by id.
func (r *run) pageByID(found *resolved, reverse bool) error {
	if len(found.options) == 0 {
		r.trace.scan(found.ids)
		return r.scan(found.ids, reverse, r)
	}
	if o := &found.options[0]; len(found.options) == 1 && o.streams() {
		return r.stream(o, found.ids, reverse)
	}
	list, winner, err := r.shortest(found, (*run).few)
	if err != nil {
		return err
	}
	if winner != nil {
		r.trace.option(r, winner, len(list))
		return r.points(list, reverse, r)
	}
	for i := range found.options {
		if o := &found.options[i]; o.streams() {
			return r.stream(o, found.ids, reverse)
		}
	}
	// Entries of a range do not come by id. Often a scan fills the page before
	// they could be gathered.
	rest, err := r.scanSome(found.ids, reverse, scanAhead*int(min(r.left.end, 1<<20)))
	if err != nil || rest.empty() {
		return err
	}
	found.ids = rest
	return r.fewOrScan(found, reverse, r)
}

// scanSome scans at most that many rows and returns the ids that are left.
func (r *run) scanSome(in ids, reverse bool, most int) (rest ids, err error) {
	rest = noIDs
	r.trace.scan(in)
	err = r.scan(in, reverse, sinkFunc(func(id uint64, b []byte) error {
		if most--; most >= 0 {
			return r.take(id, b)
		}
		rest = ids{id, in.last}
		if reverse {
			rest = ids{in.first, id}
		}
		return errDone
	}))
	if err == errDone && !rest.empty() {
		err = nil
	}
	return rest, err
}

// beyond returns the part of a range that follows an id.
func beyond(in ids, id uint64, reverse bool) ids {
	if reverse {
		if id == 0 {
			return noIDs
		}
		return in.and(ids{0, id - 1})
	}
	return in.and(ids{id + 1, maxID})
}
