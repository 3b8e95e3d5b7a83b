package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
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
		m.known, m.set = true, valuesOf(f, x.items)
	}
	if m.set == nil {
		return x.find(f, v)
	}
	return m.set.Has(v), nil
}

func (x *inSet) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// valuesOf returns the values of items, or nil if one of them fails: then the
// order in which they are looked at matters.
func valuesOf(f *Frame, items []node) *Values {
	s := new(Values)
	for _, item := range items {
		v, err := item.eval(f)
		if err != nil {
			return nil
		}
		s.Add(v)
	}
	return s
}

// inGet is "x in (get …)", whose values the frame has been given.
type inGet struct {
	x  node
	at int // in the frame's Inners
}

func (c *Compiler) inGet(e *ql.In) (node, class, error) {
	at, err := c.InnerAt(e.Get)
	if err != nil {
		return nil, 0, err
	}
	nodes, _, err := c.parts(e.X)
	if err != nil {
		return nil, 0, err
	}
	return &inGet{nodes[0], at}, perRow, nil
}

// InnerAt returns which of a frame's Inners holds the values of a get within
// an expression.
func (c *Compiler) InnerAt(g *ql.Get) (int, error) {
	if at, ok := c.inners[g]; ok {
		return at, nil
	}
	if c.Inner == nil {
		return 0, fault.New(fault.Query, "in (get …) stands in filters only")
	}
	at, err := c.Inner(g)
	if err != nil {
		return 0, err
	}
	if c.inners == nil {
		c.inners = map[*ql.Get]int{}
	}
	c.inners[g] = at
	return at, nil
}

func (x *inGet) test(f *Frame) (bool, error) {
	v, err := x.x.eval(f)
	return err == nil && f.Inners[x.at].Has(v), err
}

func (x *inGet) eval(f *Frame) (value.Value, error) { return boolean(x, f) }
