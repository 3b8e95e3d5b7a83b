package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// in is "x in [items]".
type in struct {
	x     node
	items []node
}

// setFrom is the number of constant items from which on a set of them is made.
const setFrom = 8

func (c *Compiler) in(e *ql.In) (node, class, error) {
	nodes, class, err := c.parts(append([]ql.Expr{e.X}, e.List...)...)
	if err != nil {
		return nil, 0, err
	}
	x := in{nodes[0], nodes[1:]}
	constant := true
	for i, item := range x.items {
		x.items[i] = c.moments(item, x.x)
		constant = constant && isConstant(item)
	}
	if class != perRow || !constant || len(x.items) < setFrom {
		return finish(&x, class)
	}
	c.memos++
	return &inSet{in: x, at: c.memos - 1}, class, nil
}

func (x *in) test(f *Frame) (bool, error) {
	v, err := x.x.eval(f)
	if err != nil {
		return false, err
	}
	return x.find(f, v)
}

// find reports whether v equals an item.
func (x *in) find(f *Frame, v value.Value) (bool, error) {
	for _, item := range x.items {
		w, err := item.eval(f)
		if err != nil {
			return false, err
		}
		if value.Equal(v, w) {
			return true, nil
		}
	}
	return false, nil
}

func (x *in) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// inSet is in with many items, none of which depends on the row.
type inSet struct {
	in
	at int // of the set, in the frame's memo
}

func (x *inSet) test(f *Frame) (bool, error) {
	v, err := x.x.eval(f)
	if err != nil {
		return false, err
	}
	m := &f.memo[x.at]
	if !m.known {
		m.known, m.set = true, newSet(f, x.items)
	}
	if found, ok := m.set.find(v); ok {
		return found, nil
	}
	return x.find(f, v)
}

func (x *inSet) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// set finds texts among texts and ints among ints.
type set struct {
	texts map[string]struct{}
	ints  map[int64]struct{}
}

// newSet returns the set of items that are all texts or all ints, and nil for
// others and where one fails.
func newSet(f *Frame, items []node) *set {
	s := &set{texts: map[string]struct{}{}, ints: map[int64]struct{}{}}
	for _, item := range items {
		v, err := item.eval(f)
		switch {
		case err != nil:
			return nil
		case v.Kind() == value.KindText:
			s.texts[v.AsText()] = struct{}{}
		case v.Kind() == value.KindInt:
			s.ints[v.AsInt()] = struct{}{}
		default:
			return nil
		}
	}
	if len(s.texts) > 0 && len(s.ints) > 0 {
		return nil
	}
	return s
}

// find reports whether v is in the set; ok is false where the items have to be
// compared one by one.
func (s *set) find(v value.Value) (found, ok bool) {
	switch {
	case s == nil:
		return false, false
	case v.Kind() == value.KindText && len(s.texts) > 0:
		_, found = s.texts[v.AsText()]
		return found, true
	case v.Kind() == value.KindInt && len(s.ints) > 0:
		_, found = s.ints[v.AsInt()]
		return found, true
	}
	return false, false
}
