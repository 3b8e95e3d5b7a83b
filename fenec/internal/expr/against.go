package expr

import (
	"cmp"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// against is a field of ints, timestamps, floats or texts compared with a
// constant. Whether that is of the field's own kind is found out once a run, so
// that a row costs no more than reading the field and comparing it.
type against struct {
	whole    cond // the comparison as it is written
	field    *field
	constant node
	kind     value.Kind // of the field's values
	signs    signs      // of field and constant for which it is true
	at       int        // of the constant, in the frame's memo
}

// signs is a set of signs of comparisons, a bit each.
type signs uint8

const (
	negative signs = 1 << iota
	zero
	positive
)

func (s signs) has(sign int) bool { return s>>(sign+1)&1 != 0 }

// signsOf are the signs of a comparison for which an operator is true.
var signsOf = map[ql.Op]signs{
	ql.OpEq: zero,
	ql.OpNe: negative | positive,
	ql.OpLt: negative,
	ql.OpLe: negative | zero,
	ql.OpGt: positive,
	ql.OpGe: positive | zero,
}

// mirrored returns s for the operands exchanged.
func (s signs) mirrored() signs { return s&negative<<2 | s&zero | s&positive>>2 }

// plainKinds are the kinds of what the plain types hold.
var plainKinds = map[value.Base]value.Kind{
	value.BaseInt:       value.KindInt,
	value.BaseTimestamp: value.KindTimestamp,
	value.BaseFloat:     value.KindFloat,
	value.BaseText:      value.KindText,
}

// against returns whole, which is left op right, or what is faster where one of
// these is a plain field and the other a constant.
func (c *Compiler) against(whole cond, left, right node, op ql.Op) node {
	x := against{whole: whole, constant: right, signs: signsOf[op]}
	var ok bool
	if x.field, ok = left.(*field); !ok {
		x.field, ok = right.(*field)
		x.constant, x.signs = left, x.signs.mirrored()
	}
	if !ok || !isConstant(x.constant) || x.field.typ.IsList() || plainKinds[x.field.typ.Base()] == value.KindNull {
		return whole.(node)
	}
	x.kind = plainKinds[x.field.typ.Base()]
	x.at = c.memos
	c.memos++
	return &x
}

func (x *against) test(f *Frame) (bool, error) {
	m := &f.memo[x.at]
	if !m.known {
		m.known = true
		m.v, m.err = x.constant.eval(f)
	}
	if m.err != nil || m.v.Kind() != x.kind {
		return x.whole.test(f)
	}
	v, err := f.row.View(x.field.at, x.field.typ)
	if err != nil {
		return false, err
	}
	if v.IsNull() {
		return x.signs == negative|positive, nil // null differs from everything
	}
	switch x.kind {
	case value.KindInt, value.KindTimestamp:
		return x.signs.has(cmp.Compare(v.AsInt(), m.v.AsInt())), nil
	case value.KindText:
		return x.signs.has(cmp.Compare(v.AsText(), m.v.AsText())), nil
	}
	return x.signs.has(value.Compare(v, m.v)), nil
}

func (x *against) eval(f *Frame) (value.Value, error) { return boolean(x, f) }
