package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// comparison compiles the operators whose result is a truth.
func (c *Compiler) comparison(e *ql.Binary) (node, class, error) {
	nodes, class, err := c.parts(e.Left, e.Right)
	if err != nil {
		return nil, 0, err
	}
	left, right := nodes[0], nodes[1]
	switch e.Op {
	case ql.OpHas:
		return finish(&has{left, right}, class)
	case ql.OpContains:
		if isConstant(right) && class == perRow {
			right = c.derived(right, infallible(value.Lower))
			return &containsLower{left, right}, class, nil
		}
		return finish(&contains{left, right}, class)
	}
	left, right = c.moments(left, right), c.moments(right, left)
	switch e.Op {
	case ql.OpEq, ql.OpNe:
		x := &equal{left, right, e.Op == ql.OpNe}
		if class == perRow {
			return c.against(x, left, right, e.Op), class, nil
		}
		return finish(x, class)
	}
	x := ordered{left: left, right: right, op: e.Op}
	if by := collationOf(left, right); by != collation.None {
		return c.collate(x, by), class, nil
	}
	if class == perRow {
		return c.against(&x, left, right, e.Op), class, nil
	}
	return finish(&x, class)
}

// isConstant reports whether n gives the same for all rows of a run.
func isConstant(n node) bool {
	switch n.(type) {
	case *literal, failure, param, now, outer, *onceRun:
		return true
	}
	return false
}

// derived returns what of makes of a constant, computed once.
func (c *Compiler) derived(n node, of func(value.Value) (value.Value, error)) node {
	switch n := n.(type) {
	case *literal:
		v, err := of(n.v)
		if err != nil {
			return failure{err}
		}
		return &literal{v}
	case failure:
		return n
	}
	return c.once(&mapped{n, of}, perRun)
}

// moments returns n as it is compared with other: a constant text beside a
// timestamp field as the timestamp it stands for, so that it is not read anew
// for every row.
func (c *Compiler) moments(n, other node) node {
	x, ok := other.(*field)
	if !ok || !x.typ.Is(value.BaseTimestamp) || !isConstant(n) {
		return n
	}
	return c.derived(n, infallible(moment))
}

// moment returns the timestamp that a text stands for; any other value and a
// text that is none stay as they are.
func moment(v value.Value) value.Value {
	if v.Kind() != value.KindText {
		return v
	}
	if t, err := value.ParseTimestamp(v.AsText()); err == nil {
		return t
	}
	return v
}

// both evaluates two operands, the left one first.
func both(f *Frame, left, right node) (a, b value.Value, err error) {
	if a, err = left.eval(f); err != nil {
		return a, b, err
	}
	b, err = right.eval(f)
	return a, b, err
}

// equal is = and, with not, !=.
type equal struct {
	left, right node
	not         bool
}

func (x *equal) test(f *Frame) (bool, error) {
	a, b, err := both(f, x.left, x.right)
	if err != nil {
		return false, err
	}
	return value.Equal(a, b) != x.not, nil
}

func (x *equal) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// ordered is one of < <= > >=.
type ordered struct {
	left, right node
	op          ql.Op
}

func (x *ordered) test(f *Frame) (bool, error) {
	a, b, err := both(f, x.left, x.right)
	if err != nil || a.IsNull() || b.IsNull() {
		return false, err
	}
	return x.holds(value.Compare(a, b)), nil
}

// holds returns what x says of two values whose comparison has that sign.
func (x *ordered) holds(sign int) bool {
	switch x.op {
	case ql.OpLt:
		return sign < 0
	case ql.OpLe:
		return sign <= 0
	case ql.OpGt:
		return sign > 0
	}
	return sign >= 0
}

func (x *ordered) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// contains is ~.
type contains struct{ left, right node }

func (x *contains) test(f *Frame) (bool, error) {
	a, b, err := both(f, x.left, x.right)
	return err == nil && value.Contains(a, b), err
}

func (x *contains) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// containsLower is ~ with a right side that is in lower case.
type containsLower struct{ left, right node }

func (x *containsLower) test(f *Frame) (bool, error) {
	a, b, err := both(f, x.left, x.right)
	if err != nil || a.Kind() != value.KindText || b.Kind() != value.KindText {
		return false, err
	}
	return value.ContainsLower(a.AsText(), b.AsText()), nil
}

func (x *containsLower) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// has is the operator of that name.
type has struct{ left, right node }

func (x *has) test(f *Frame) (bool, error) {
	a, b, err := both(f, x.left, x.right)
	return err == nil && a.Has(b), err
}

func (x *has) eval(f *Frame) (value.Value, error) { return boolean(x, f) }
