package plan

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Keyed is how the rows are found that have, as their id or in a field with an
// index, one of many values which are known only in a run, and which of them each
// row has.
type Keyed struct {
	rest *Plan // of the rows that meet what else is asked of them
	key  target
	page page // of the rows of each value
}

// CompileKeyed returns how rows of c's collection are found by the key that on
// names. It is nil where they are better found for one value after the other: in
// an order other than by id, as a page of those that pass a filter, and where the
// filter may fail under a condition that is imposed.
func CompileKeyed(c *expr.Compiler, on string, q Clauses) (*Keyed, error) {
	key, ok := targetOf(c.Collection(), &ql.Path{Field: on})
	if !ok || len(q.Order) > 0 {
		return nil, nil
	}
	rest, err := Compile(c, Clauses{Imposed: q.Imposed, Where: q.Where})
	if err != nil {
		return nil, err
	}
	k := &Keyed{rest, key, newPage(q.Offset, q.Limit)}
	if k.page != rest.page && rest.where != nil || rest.unsure {
		return nil, nil
	}
	return k, nil
}

// Found tells which rows have which of the values that a run was given. Those of
// value i are Rows[End[i-1]:End[i]], by ascending id, where a number n stands for
// the row that was the n-th to be visited, from 0.
type Found struct {
	Rows []int
	End  []int
}

// group is equal values.
type group struct {
	span      // of the rows that have them
	value int // the number of one of them
	begin int // where their rows begin in Found.Rows
	rows  int // that have been placed there
}

// match is a row that has the values of a group.
type match struct {
	id    uint64
	group int
}

// Run gives v the rows that have one of vals, each once and by ascending id, and
// returns which has which. No row has null. When ok is false nothing has been
// done: entries cannot tell the values apart, or are so many that another index
// may serve better, or j.Also is asked and the page is one of the rows it tells, or
// rows are hidden from it.
func (k *Keyed) Run(ctx context.Context, j Job, vals []value.Value, v Visitor) (found Found, ok bool, err error) {
	if j.Also != nil && (k.page != k.rest.page || k.rest.on) {
		return found, false, nil
	}
	r := k.rest.begin(ctx, j, page{0, math.MaxInt64})
	defer r.end()
	r.visitor = v
	if err := r.settled(r.f); err != nil {
		return found, false, err
	}
	x := r.beginKeyed(k)
	defer x.end()
	if !x.makeGroups(vals) {
		return found, false, nil
	}
	if len(x.groups) == 0 {
		return x.found(), true, nil
	}
	r.trace.begin()
	defer r.trace.end()
	if ok, err := x.gather(); !ok || err != nil {
		return found, false, err
	}
	r.trace.keyed(r, &k.key, len(x.matches))
	if err := x.visit(); err != nil {
		return found, false, err
	}
	return x.found(), true, nil
}

// keyedRun is a run of a Keyed.
type keyedRun struct {
	*Keyed
	run  *run
	next int // the first match whose row has not come

	groups  []group // in the order of the index
	of      []int   // the group of each value, or -1 for one that no row has
	matches []match
	numbers []int // of the matches' visits, -1 for those that do not pass the filter
	rows    []int // that have passed, by groups
}

// beginKeyed returns a run of k, which is to be ended, in the memory of one
// before.
func (r *run) beginKeyed(k *Keyed) *keyedRun {
	if r.keyed == nil {
		r.keyed = new(keyedRun)
	}
	x := r.keyed
	x.Keyed, x.run = k, r
	return x
}

// end leaves memory to the next run.
func (x *keyedRun) end() {
	if max(cap(x.of), cap(x.matches)) > keptIDs {
		*x = keyedRun{}
		return
	}
	clear(x.groups[:cap(x.groups)])
	*x = keyedRun{groups: x.groups[:0], of: x.of[:0], matches: x.matches[:0], numbers: x.numbers[:0], rows: x.rows[:0]}
}

// makeGroups puts equal values in groups. It fails where entries do not decide
// which values are equal.
func (x *keyedRun) makeGroups(vals []value.Value) bool {
	for i, v := range vals {
		x.of = append(x.of, -1)
		if v.IsNull() {
			continue
		}
		s, ok := x.span(v)
		if !ok {
			return false
		}
		if s.index == nil && s.ids.empty() {
			continue
		}
		x.groups = append(x.groups, group{span: s, value: i})
	}
	if !slices.IsSortedFunc(x.groups, compareGroups) {
		slices.SortFunc(x.groups, compareGroups)
	}
	n := 0
	for _, g := range x.groups {
		if n == 0 || compareGroups(g, x.groups[n-1]) != 0 {
			x.groups[n] = g
			n++
		}
		x.of[g.value] = n - 1
	}
	x.groups = x.groups[:n]
	return true
}

// span returns the rows that have a value. ok is false if not all of its entries
// are of such rows.
func (x *keyedRun) span(v value.Value) (s span, ok bool) {
	if x.key.isID() {
		return span{ids: idsWhere(opEqual, v)}, v.Kind() == value.KindInt
	}
	return x.key.equalTo(&x.run.keys, v, allIDs)
}

func compareGroups(a, b group) int {
	if a.index == nil {
		return cmp.Compare(a.ids.first, b.ids.first)
	}
	return bytes.Compare(a.lower, b.lower)
}

// gather reads the ids of all groups. It gives up where they are many and another
// index may lead to few.
func (x *keyedRun) gather() (ok bool, err error) {
	if x.page.skip >= x.page.end {
		return true, nil
	}
	if !x.key.isID() {
		return x.entries()
	}
	for i := range x.groups {
		if x.page.skip == 0 {
			x.matches = append(x.matches, match{x.groups[i].ids.first, i})
		}
	}
	return true, nil
}

// entries is gather for an index. It steps from the entries of one group to those
// of the next, and looks for these where others lie in between.
func (x *keyedRun) entries() (ok bool, err error) {
	most := math.MaxInt
	if len(x.rest.cond.terms) > 0 {
		most = fewEntries * len(x.groups)
	}
	at, n := 0, int64(0) // the group, and how many of its entries have come
	upper := x.groups[len(x.groups)-1].upper
	scan := x.run.t.Index(x.key.index, x.groups[0].lower, upper, false)
	defer scan.Close()
	for scan.Next() {
		if err := x.run.step(); err != nil {
			return false, err
		}
		k := scan.ValueKey()
		ahead := bytes.Compare(x.groups[at].key, k)
		for ahead < 0 && at+1 < len(x.groups) {
			at, n = at+1, 0
			ahead = bytes.Compare(x.groups[at].key, k)
		}
		if ahead < 0 {
			break // past all
		}
		if ahead > 0 {
			scan.Reset(x.groups[at].lower, upper)
			continue
		}
		if n >= x.page.skip {
			x.matches = append(x.matches, match{scan.ID(), at})
		}
		if len(x.matches) > most {
			return false, nil
		}
		if n++; n == x.page.end {
			if at, n = at+1, 0; at == len(x.groups) {
				break
			}
			scan.Reset(x.groups[at].lower, upper)
		}
	}
	return true, scan.Err()
}

// visit visits the rows of all matches, by ascending id.
func (x *keyedRun) visit() error {
	byID := func(a, b match) int { return cmp.Compare(a.id, b.id) }
	if !slices.IsSortedFunc(x.matches, byID) {
		slices.SortFunc(x.matches, byID)
	}
	list := x.run.list[:0]
	for i := range x.matches {
		x.numbers = append(x.numbers, -1)
		list = append(list, x.matches[i].id)
	}
	x.run.list = list
	if len(list) > fewEntries {
		in := ids{list[0], list[len(list)-1]}
		most, err := x.run.worthwhile(in)
		if err != nil {
			return err
		}
		if len(list) > most {
			return x.run.scan(in, false, x)
		}
	}
	return x.run.points(list, false, x)
}

// take makes x a sink of rows by ascending id, some of which are those of matches.
func (x *keyedRun) take(id uint64, b []byte) error {
	for x.next < len(x.matches) && x.matches[x.next].id < id {
		x.next++
	}
	if x.next == len(x.matches) || x.matches[x.next].id > id {
		return nil // a damaged page may lead past the last
	}
	before := x.run.picked
	err := x.run.take(id, b)
	if x.run.picked > before {
		x.numbers[x.next] = int(before)
		x.groups[x.matches[x.next].group].rows++
	}
	return err
}

// found tells which rows have which of the values.
func (x *keyedRun) found() Found {
	begin := 0
	for i := range x.groups {
		g := &x.groups[i]
		begin, g.begin, g.rows = begin+g.rows, begin, 0
	}
	x.rows = slices.Grow(x.rows, begin)[:begin]
	for i, m := range x.matches {
		if n := x.numbers[i]; n >= 0 {
			g := &x.groups[m.group]
			x.rows[g.begin+g.rows] = n
			g.rows++
		}
	}
	out := Found{Rows: make([]int, 0, begin), End: make([]int, len(x.of))}
	for i, at := range x.of {
		if at >= 0 {
			g := &x.groups[at]
			out.Rows = append(out.Rows, x.rows[g.begin:g.begin+g.rows]...)
		}
		out.End[i] = len(out.Rows)
	}
	return out
}
