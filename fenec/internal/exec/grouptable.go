package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// groupTable is the groups that one run finds, which are numbered as they come.
type groupTable struct {
	of     *grouping
	f      *expr.Frame
	groups *forms        // of the keys; nil when there are none
	keys   []value.Value // of all groups, as many for each as there are keys
	values []accumulator // of the aggregates
	n      int           // groups
	buf    []byte
	by     []value.Value // what the group being sorted is sorted by
}

func newGroupTable(of *grouping, f *expr.Frame) *groupTable {
	t := &groupTable{of: of, f: f}
	held := new(held)
	for i := range of.aggregates {
		t.values = append(t.values, of.aggregates[i].accumulator(held))
	}
	f.Slots = make([]value.Value, len(of.keys)+len(of.columns)+len(of.aggregates))
	if len(of.keys) == 0 {
		t.grow()
	} else {
		t.groups = newForms()
	}
	return t
}

// grow adds a group.
func (t *groupTable) grow() {
	for _, a := range t.values {
		a.grow()
	}
	t.n++
}

// Visit adds a row, which the frame stands at, to its group.
func (t *groupTable) Visit(plan.Row) error {
	g, err := t.group()
	if err != nil {
		return err
	}
	for _, a := range t.values {
		if err := a.add(g, t.f); err != nil {
			return err
		}
	}
	return nil
}

// count adds rows to a group, where all aggregates count rows.
func (t *groupTable) count(g int, rows int64) {
	for _, a := range t.values {
		a.(*rowCounts).n[g] += rows
	}
}

// group returns the group of the row that the frame stands at.
func (t *groupTable) group() (int, error) {
	if t.groups == nil {
		return 0, nil
	}
	var err error
	t.buf = t.buf[:0]
	for i := range t.of.keys {
		if t.buf, _, err = t.of.keys[i].appendForm(t.buf, t.f); err != nil {
			return 0, err
		}
	}
	g, isNew := t.groups.number(t.buf)
	if !isNew {
		return g, nil
	}
	for i := range t.of.keys {
		v, err := t.of.keys[i].value(t.f)
		if err != nil {
			return 0, err
		}
		t.keys = append(t.keys, value.Clone(v))
	}
	t.grow()
	return g, nil
}

// key returns the keys of a group.
func (t *groupTable) key(g int) []value.Value {
	n := len(t.of.keys)
	return t.keys[g*n : (g+1)*n]
}

// answer returns the groups that pass, those of the page in order.
func (t *groupTable) answer(ctx context.Context) (*Result, error) {
	groups, err := t.passing(ctx)
	if err != nil {
		return nil, err
	}
	if t.of.count {
		return countResult(int64(len(groups))), nil
	}
	if groups, err = t.page(ctx, groups); err != nil {
		return nil, err
	}
	return t.result(ctx, groups)
}

// passing returns the groups that having lets pass.
func (t *groupTable) passing(ctx context.Context) ([]int, error) {
	groups := make([]int, 0, t.n)
	for g := range t.n {
		if err := checkNow(ctx, g); err != nil {
			return nil, err
		}
		if x := t.of.having; x != nil {
			if err := t.fill(g, x); err != nil {
				return nil, err
			}
			if ok, err := x.x.Test(t.f); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// result returns the columns of groups.
func (t *groupTable) result(ctx context.Context, groups []int) (*Result, error) {
	n := len(t.of.columns)
	types, columns := make([]value.Type, n), make([]column, n)
	for i, name := range t.of.names {
		types[i], columns[i] = anyType, newColumn(name, i, anyType)
	}
	res := &Result{heading: newHeading(columns...), rows: make([]resultRow, 0, len(groups))}
	vals := make([]value.Value, n)
	for i, g := range groups {
		err := checkNow(ctx, i)
		for c := range vals {
			if err == nil {
				vals[c], err = t.column(g, c)
			}
		}
		if err != nil {
			return nil, err
		}
		t.buf = row.Encode(t.buf[:0], types, vals)
		res.rows = append(res.rows, resultRow{data: res.memory.Copy(t.buf)})
	}
	return res, nil
}

// column returns a column of a group.
func (t *groupTable) column(g, column int) (value.Value, error) {
	x := &t.of.columns[column]
	if err := t.fill(g, x); err != nil {
		return value.Null, err
	}
	return x.x.Eval(t.f)
}

// fill gives the frame what an expression reads of a group.
func (t *groupTable) fill(g int, x *groupExpr) error {
	keys, columns := len(t.of.keys), len(t.of.columns)
	for _, slot := range x.slots {
		var err error
		switch at := slot - keys; {
		case at < 0:
			t.f.Slots[slot] = t.keys[g*keys+slot]
		case at < columns:
			t.f.Slots[slot], err = t.column(g, at)
		default:
			t.f.Slots[slot], err = t.values[at-columns].value(g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkNow looks at the context now and then: for the first of many things and
// then for each checkEvery-th.
func checkNow(ctx context.Context, i int) error {
	if i%checkEvery == 0 {
		return ctx.Err()
	}
	return nil
}
