package expr

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// collationOf returns the collation that two operands are compared by: that of
// the field, where one of them is a field. Of two fields the left one decides.
func collationOf(left, right node) collation.Collation {
	for _, n := range []node{left, right} {
		if x, ok := n.(*field); ok && x.collation != collation.None {
			return x.collation
		}
	}
	return collation.None
}

// collated is one of < <= > >= beside a field that has a collation.
type collated struct {
	ordered
	by collation.Collation
}

// collate returns x under a collation.
func (c *Compiler) collate(x ordered, by collation.Collation) node {
	n := collated{x, by}
	toKey := infallible(n.key)
	switch {
	case isConstant(x.right):
		return &collatedTo{n, c.derived(x.right, toKey), 1}
	case isConstant(x.left):
		return &collatedTo{n, c.derived(x.left, toKey), -1}
	}
	return &n
}

func (x *collated) test(f *Frame) (bool, error) {
	a, b, err := both(f, x.left, x.right)
	if err != nil || a.IsNull() || b.IsNull() {
		return false, err
	}
	return x.holds(value.CompareCollated(a, b, x.by)), nil
}

func (x *collated) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// key returns the key of a text, and null for anything else.
func (x *collated) key(v value.Value) value.Value {
	if v.Kind() != value.KindText {
		return value.Null
	}
	return value.Bytes(x.by.AppendKey(nil, v.AsText()))
}

// collatedTo is collated with a constant on one side, whose key is made once.
type collatedTo struct {
	collated
	constant node // its key
	sign     int  // 1 if it is the right side, -1 if the left
}

func (x *collatedTo) test(f *Frame) (bool, error) {
	a, b, err := both(f, x.left, x.right)
	if err != nil || a.IsNull() || b.IsNull() {
		return false, err
	}
	key, err := x.constant.eval(f)
	if err != nil {
		return false, err
	}
	v := a
	if x.sign < 0 {
		v = b
	}
	if key.IsNull() || v.Kind() != value.KindText {
		return x.holds(value.CompareCollated(a, b, x.by)), nil
	}
	var room [128]byte
	return x.holds(x.sign * bytes.Compare(x.by.AppendKey(room[:0], v.AsText()), key.AsBytes())), nil
}

func (x *collatedTo) eval(f *Frame) (value.Value, error) { return boolean(x, f) }
