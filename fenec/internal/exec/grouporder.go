package exec

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// groupOrder is one thing that groups are sorted by: a column.
type groupOrder struct {
	column  int
	desc    bool
	collate collation.Collation
}

// compileOrder compiles the order of groups, which is by columns alone.
func (gc *groupCompiler) compileOrder(keys []ql.Key) error {
	for i := range keys {
		k := &keys[i]
		at, err := gc.ordered(k)
		if err != nil {
			return err
		}
		o := groupOrder{column: at, desc: k.Desc}
		if o.collate, err = gc.collation(gc.items[at].Expr, k.Collate); err != nil {
			return err
		}
		gc.order = append(gc.order, o)
	}
	return nil
}

// ordered returns the column that a sort key names: by its name, or by the
// text of what it holds.
func (gc *groupCompiler) ordered(k *ql.Key) (int, error) {
	var e ql.Expr = &k.Path
	name := k.Path.String()
	if k.Call != nil {
		e, name = k.Call, ql.CallName(k.Call)
	}
	if at := slices.Index(gc.names, name); at >= 0 {
		return at, nil
	}
	text := exprText(e)
	for at := range gc.items {
		if exprText(gc.items[at].Expr) == text {
			return at, nil
		}
	}
	if k.Call == nil {
		if _, err := operandOf(gc.c.Collection(), k.Path.Field); err != nil {
			return 0, err
		}
	}
	return 0, fault.New(fault.Query, "order %s: groups are sorted by columns of the select list", name)
}

// collation returns how a column is sorted: as the sort key says, else as the
// field is that the column is taken from.
func (gc *groupCompiler) collation(e ql.Expr, written string) (collation.Collation, error) {
	from := gc.taken(e)
	if written == "" {
		return from.collate, nil
	}
	by, ok := collation.Parse(written)
	if !ok || !from.typ.Is(value.BaseText) && from.typ != value.ListType(value.TypeText) {
		return by, fault.New(fault.Query, "collate %s: %s is not text", written, ql.PrintExpr(e))
	}
	return by, nil
}

// taken returns the field whose values a column has, if it is a key or an
// aggregate that picks one of many; else the zero source.
func (gc *groupCompiler) taken(e ql.Expr) source {
	if c, ok := e.(*ql.Call); ok && ql.IsAggregate(c.Name) {
		if a := &gc.aggregates[gc.at[exprText(c)]]; a.picks() {
			return *a.arg
		}
		return source{}
	}
	if i := slices.Index(gc.texts, exprText(e)); i >= 0 {
		return *gc.keys[i]
	}
	return source{}
}

// page returns which of the groups are in the page, in order.
func (t *groupTable) page(ctx context.Context, groups []int) ([]int, error) {
	n := len(groups)
	first := int(min(t.of.offset, int64(n)))
	end := n
	if t.of.limit != noLimit {
		end = first + int(min(t.of.limit, int64(n-first)))
	}
	if first == end || n == 1 {
		return groups[first:end], nil
	}
	list, err := t.first(ctx, groups, end)
	if err != nil {
		return nil, err
	}
	for i := range list {
		groups[i] = list[i].group
	}
	return groups[first:end], nil
}

// sortedGroup is a group among others.
type sortedGroup struct {
	head  uint64 // the beginning of the key of what comes first, which mostly decides
	group int
	by    []value.Value // the columns that groups are sorted by
}

// first returns the first n groups in order.
func (t *groupTable) first(ctx context.Context, groups []int, n int) ([]sortedGroup, error) {
	// Room for as many again, so that putting them in order, which drops those
	// that are too many, is seldom.
	room := min(2*n, len(groups))
	list := make([]sortedGroup, 0, room)
	full := false // the first n of list are in order, and no others than before them are wanted
	for i, g := range groups {
		if err := checkNow(ctx, i); err != nil {
			return nil, err
		}
		s, err := t.sorted(g)
		if err != nil {
			return nil, err
		}
		if full && t.compare(s, list[n-1]) > 0 {
			continue
		}
		if len(list) == room {
			if err := plan.Sort(ctx, list, t.compare); err != nil {
				return nil, err
			}
			list, full = list[:n], true
		}
		s.by = slices.Clone(s.by)
		list = append(list, s)
	}
	if err := plan.Sort(ctx, list, t.compare); err != nil {
		return nil, err
	}
	return list[:n], nil
}

// sorted returns a group with what it is sorted by, which is good until the
// next call.
func (t *groupTable) sorted(g int) (sortedGroup, error) {
	s := sortedGroup{group: g}
	if len(t.of.order) == 0 {
		t.buf = key.Append(t.buf[:0], t.key(g)[0])
		s.head = head(t.buf)
		return s, nil
	}
	t.by = t.by[:0]
	for i := range t.of.order {
		v, err := t.column(g, t.of.order[i].column)
		if err != nil {
			return s, err
		}
		t.by = append(t.by, v)
	}
	s.by = t.by
	o := &t.of.order[0]
	t.buf, _ = key.AppendCollated(t.buf[:0], s.by[0], o.collate)
	if s.head = head(t.buf); o.desc {
		s.head = ^s.head
	}
	return s, nil
}

// head returns the first bytes of a key as a number in the same order.
func head(key []byte) uint64 {
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

func (t *groupTable) compare(a, b sortedGroup) int {
	if a.head != b.head {
		return cmp.Compare(a.head, b.head)
	}
	for i := range t.of.order {
		o := &t.of.order[i]
		if sign := value.CompareCollated(a.by[i], b.by[i], o.collate); sign != 0 {
			if o.desc {
				return -sign
			}
			return sign
		}
	}
	return compareKeys(t.key(a.group), t.key(b.group))
}

// compareKeys compares the keys of two groups. Where all are equal the form of
// the values decides, which is another in each group.
func compareKeys(a, b []value.Value) int {
	for i := range a {
		if sign := value.Compare(a[i], b[i]); sign != 0 {
			return sign
		}
	}
	for i := range a {
		if sign := compareForms(a[i], b[i]); sign != 0 {
			return sign
		}
	}
	return 0
}

// compareForms orders values that are equal but of different forms, such as 3
// and 3.0.
func compareForms(a, b value.Value) int {
	return bytes.Compare(value.Append(nil, a), value.Append(nil, b))
}
