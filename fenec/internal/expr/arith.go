package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// MaxText is the longest text that a computation makes and a field takes, in
// bytes. It holds for bytes, lists and json in a field too, as they are stored.
const MaxText = 16 << 20

func (c *Compiler) arithmetic(e *ql.Binary) (node, class, error) {
	nodes, class, err := c.parts(e.Left, e.Right)
	if err != nil {
		return nil, 0, err
	}
	return finish(&arithmetic{nodes[0], nodes[1], operations[e.Op]}, class)
}

var operations = map[ql.Op]func(a, b value.Value) (value.Value, error){
	ql.OpAdd: add,
	ql.OpSub: value.Sub,
	ql.OpMul: value.Mul,
	ql.OpDiv: value.Div,
}

type arithmetic struct {
	left, right node
	of          func(a, b value.Value) (value.Value, error)
}

func (x *arithmetic) eval(f *Frame) (value.Value, error) {
	a, b, err := both(f, x.left, x.right)
	if err != nil {
		return value.Null, err
	}
	return x.of(a, b)
}

// add is value.Add with a bound on the length of texts.
func add(a, b value.Value) (value.Value, error) {
	if a.Kind() == value.KindText && b.Kind() == value.KindText && a.Len()+b.Len() > MaxText {
		return value.Null, fault.New(fault.Type, "a text of %d bytes is longer than %d", a.Len()+b.Len(), MaxText)
	}
	return value.Add(a, b)
}

// neg is the minus before an expression.
type neg struct{ x node }

func (x *neg) eval(f *Frame) (value.Value, error) {
	v, err := x.x.eval(f)
	if err != nil {
		return value.Null, err
	}
	return value.Neg(v)
}
