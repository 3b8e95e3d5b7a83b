package expr

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// expiredName is the function that tells whether a row is expired.
const expiredName = "expired"

// IsExpired reports whether e is a call of expired().
func IsExpired(e ql.Expr) bool {
	call, ok := e.(*ql.Call)
	return ok && strings.EqualFold(call.Name, expiredName)
}

// NamesExpired reports whether expired() stands in e. That of a get within e is
// about other rows.
func NamesExpired(e ql.Expr) bool {
	found := false
	ql.Walk(e, func(e ql.Expr) bool {
		found = found || IsExpired(e)
		if in, ok := e.(*ql.In); ok && in.Get != nil {
			found = found || NamesExpired(in.X)
			return false
		}
		return true
	})
	return found
}

// expired compiles a call of expired().
func (c *Compiler) expired(e *ql.Call) (node, class, error) {
	if err := arity(e, 0, 0); err != nil {
		return nil, 0, err
	}
	switch {
	case c.fields != Filter:
		return nil, 0, fault.New(fault.Query, "%s: expired() stands in filters only", e.Pos)
	case c.col.TTL() == nil:
		return nil, 0, fault.New(fault.Query, "%s: collection %q has no field with @ttl", e.Pos, c.col.Name)
	}
	return expired{c.col}, perRow, nil
}

// Live returns what tells whether a row is not expired, or nil where rows do
// not expire.
func (c *Compiler) Live() *Expr {
	if c.col.TTL() == nil {
		return nil
	}
	n := &not{expired{c.col}}
	return &Expr{node: n, cond: n, class: perRow}
}

// And returns what tests x and then y, each of which may be nil for no test.
func (x *Expr) And(y *Expr) *Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	n := &and{[]cond{x.cond, y.cond}}
	return &Expr{node: n, cond: n, class: max(x.class, y.class)}
}

// Cutoff returns the time up to which, itself included, the values of the field
// with @ttl are of rows that are expired. Rows of the collection must expire.
func (c *Compiler) Cutoff() *Expr {
	n := cutoff{c.col}
	return &Expr{node: n, cond: truth{n}, class: perRun}
}

// cutoff is the time that Cutoff returns.
type cutoff struct{ col *catalog.Collection }

func (x cutoff) eval(f *Frame) (value.Value, error) {
	_, at, _ := x.col.Cutoff(f.Now)
	return value.Timestamp(at), nil
}

// expired tells whether the row is expired at the statement's clock.
type expired struct{ col *catalog.Collection }

func (x expired) test(f *Frame) (bool, error) {
	field, at, _ := x.col.Cutoff(f.Now)
	v, err := f.row.View(field, value.TypeTimestamp)
	return err == nil && !v.IsNull() && v.AsInt() <= at, err
}

func (x expired) eval(f *Frame) (value.Value, error) { return boolean(x, f) }
