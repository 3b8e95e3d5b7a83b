package plan

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
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
// an order other than by id, and as a page of those that pass a filter.
func CompileKeyed(c *expr.Compiler, on string, q Clauses) (*Keyed, error) {
	key, ok := targetOf(c.Collection(), &ql.Path{Field: on})
	if !ok || len(q.Order) > 0 {
		return nil, nil
	}
	rest, err := Compile(c, Clauses{Where: q.Where})
	if err != nil {
		return nil, err
	}
	k := &Keyed{rest, key, newPage(q.Offset, q.Limit)}
	if k.page != rest.page && rest.where != nil {
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
// may serve better, or the page is one of rows that j.Also tells.
func (k *Keyed) Run(ctx context.Context, j Job, vals []value.Value, v Visitor) (found Found, ok bool, err error) {
	if j.Also != nil && k.page != k.rest.page {
		return found, false, nil
	}
	r := k.rest.begin(ctx, j, page{0, math.MaxInt64})
	defer r.end()
	r.visitor = v
	x := keyedRun{Keyed: k, run: r}
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
	run     *run
	groups  []group // in the order of the index
	of      []int   // the group of each value, or -1 for one that no row has
	matches []match
	numbers []int // of the matches' visits, -1 for those that do not pass the filter
	next    int   // the first match whose row has not come
}

// makeGroups puts equal values in groups. It fails where entries do not decide
// which values are equal.
func (x *keyedRun) makeGroups(vals []value.Value) bool {
	x.of = make([]int, len(vals))
	x.groups = make([]group, 0, len(vals))
	for i, v := range vals {
		x.of[i] = -1
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
	most := math.MaxInt
	if len(x.rest.cond.terms) > 0 {
		most = fewEntries * len(x.groups)
	}
	x.matches = make([]match, 0, 4*len(x.groups))
	var scan *table.IndexScan
	for i := range x.groups {
		g := &x.groups[i]
		if g.index == nil {
			if x.page.skip == 0 && x.page.end > 0 {
				x.matches = append(x.matches, match{g.ids.first, i})
			}
			continue
		}
		if scan == nil {
			scan = x.run.index(&g.span, false)
		} else {
			scan.Reset(g.lower, g.upper)
		}
		if err := x.entries(scan, i); err != nil {
			return false, err
		}
		if len(x.matches) > most {
			return false, nil
		}
	}
	return true, nil
}

// entries adds the matches of a group, as far as they are in the page.
func (x *keyedRun) entries(scan *table.IndexScan, group int) error {
	for n := int64(0); n < x.page.end && scan.Next(); n++ {
		if err := x.run.step(); err != nil {
			return err
		}
		if n >= x.page.skip {
			x.matches = append(x.matches, match{scan.ID(), group})
		}
	}
	return scan.Err()
}

// visit visits the rows of all matches, by ascending id.
func (x *keyedRun) visit() error {
	byID := func(a, b match) int { return cmp.Compare(a.id, b.id) }
	if !slices.IsSortedFunc(x.matches, byID) {
		slices.SortFunc(x.matches, byID)
	}
	x.numbers = make([]int, len(x.matches))
	for i := range x.numbers {
		x.numbers[i] = -1
	}
	if len(x.matches) > fewEntries {
		in := ids{x.matches[0].id, x.matches[len(x.matches)-1].id}
		most, err := x.run.worthwhile(in)
		if err != nil {
			return err
		}
		if len(x.matches) > most {
			if err = x.run.scan(in, false, x); err == errDone {
				err = nil
			}
			return err
		}
	}
	for i := range x.matches {
		if err := x.run.point(x.matches[i].id, x); err != nil {
			return err
		}
	}
	return nil
}

// take makes x a sink of rows by ascending id, some of which are those of matches.
func (x *keyedRun) take(id uint64, b []byte) error {
	for x.next < len(x.matches) && x.matches[x.next].id < id {
		x.next++
	}
	if x.next == len(x.matches) {
		return errDone
	}
	if x.matches[x.next].id > id {
		return nil
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
	rows := make([]int, begin) // by groups
	for i, m := range x.matches {
		if n := x.numbers[i]; n >= 0 {
			g := &x.groups[m.group]
			rows[g.begin+g.rows] = n
			g.rows++
		}
	}
	out := Found{Rows: make([]int, 0, begin), End: make([]int, len(x.of))}
	for i, at := range x.of {
		if at >= 0 {
			g := &x.groups[at]
			out.Rows = append(out.Rows, rows[g.begin:g.begin+g.rows]...)
		}
		out.End[i] = len(out.Rows)
	}
	return out
}
