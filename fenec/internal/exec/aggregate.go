package exec

import (
	"encoding/binary"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// aggregate is one aggregate of a statement.
type aggregate struct {
	name string  // in lower case
	arg  *source // nil when rows are counted
	by   *source // of first and last, or nil
}

// accumulator computes an aggregate of many groups, which are numbered in the
// order they were added.
type accumulator interface {
	// grow adds a group.
	grow()

	// add adds the row that f stands at to group g.
	add(g int, f *expr.Frame) error

	// value returns the aggregate of group g, after the last row was added.
	value(g int) (value.Value, error)
}

// compileAggregate compiles a call of an aggregate. What is known of its
// argument's type must suit it.
func compileAggregate(c *expr.Compiler, e *ql.Call) (aggregate, error) {
	a := aggregate{name: strings.ToLower(e.Name)}
	if len(e.Args) == 0 {
		return a, nil
	}
	var err error
	if a.arg, err = compileSource(c, e.Args[0]); err != nil {
		return a, err
	}
	if e.By != nil {
		if a.by, err = compileSource(c, e.By); err != nil {
			return a, err
		}
	}
	if !a.takes(a.arg.typ) {
		return a, fault.New(fault.Type, "%s: it does not take a field of type %s", ql.CallName(e), a.arg.typ)
	}
	return a, nil
}

// takes reports whether values of a declared type suit the aggregate. The zero
// Type, which says nothing, does, and so does json: the values will tell.
func (a *aggregate) takes(t value.Type) bool {
	if t == (value.Type{}) || t.Is(value.BaseJSON) {
		return true
	}
	switch a.name {
	case "sum", "avg":
		return t.Is(value.BaseInt) || t.Is(value.BaseFloat)
	case "min", "max":
		switch t.Base() {
		case value.BaseBool, value.BaseInt, value.BaseFloat, value.BaseTimestamp, value.BaseText:
			return !t.IsList()
		}
		return false
	case "hll_combine":
		return t.Is(value.BaseBytes)
	}
	return true
}

// countsRows reports whether a is count(*).
func (a *aggregate) countsRows() bool { return a.arg == nil }

// picks reports whether a is one of the values it is given.
func (a *aggregate) picks() bool {
	switch a.name {
	case "min", "max", "first", "last":
		return true
	}
	return false
}

// accumulator returns what computes a in one run, whose aggregates share what
// they may hold.
func (a *aggregate) accumulator(held *held) accumulator {
	switch a.name {
	case "count":
		if a.countsRows() {
			return new(rowCounts)
		}
		return newDistinct(a.arg, held)
	case "sum":
		return &sums{of: a.arg}
	case "avg":
		return &averages{sums{of: a.arg}}
	case "min":
		return &extremes{of: a.arg, sign: -1}
	case "max":
		return &extremes{of: a.arg, sign: 1}
	case "first", "last":
		return newEnds(a)
	}
	return newSketches(a, held)
}

// source is what a key or an aggregate takes of each row: a field, or an
// expression.
type source struct {
	x       *expr.Expr // nil for a field
	field   int
	typ     value.Type // of a field; zero for an expression
	collate collation.Collation
}

func compileSource(c *expr.Compiler, e ql.Expr) (*source, error) {
	x, err := c.Compile(e, expr.Early)
	if err != nil {
		return nil, err
	}
	p, ok := e.(*ql.Path)
	if !ok || len(p.Keys) > 0 {
		return &source{x: x}, nil
	}
	at, ok := c.Collection().Position(p.Field)
	if !ok {
		return &source{x: x, typ: value.TypeInt}, nil // the id
	}
	f := &c.Collection().Fields[at]
	return &source{field: at, typ: f.Type, collate: f.Collation}, nil
}

// value returns what f's row has. It may lie in the memory of the row.
func (s *source) value(f *expr.Frame) (value.Value, error) {
	if s.x == nil {
		return f.Row().View(s.field, s.typ)
	}
	return s.x.Eval(f)
}

// oneZero returns v, or 0 for minus zero, which is the same number in the same
// form.
func oneZero(v value.Value) value.Value {
	if v.Kind() == value.KindFloat && v.AsFloat() == 0 {
		return value.Float(0)
	}
	return v
}

// appendForm appends bytes that tell what f's row has from all other values,
// by type and form. No such bytes are the beginning of others. null says that
// it is null.
func (s *source) appendForm(dst []byte, f *expr.Frame) (out []byte, null bool, err error) {
	if s.x != nil {
		v, err := s.x.Eval(f)
		return value.Append(dst, oneZero(v)), v.IsNull(), err
	}
	// A field is stored in one form only.
	b, err := f.Row().Raw(s.field)
	if b == nil || err != nil {
		return append(dst, 0), true, err
	}
	dst = binary.AppendUvarint(dst, uint64(len(b))+1)
	return append(dst, b...), false, nil
}
