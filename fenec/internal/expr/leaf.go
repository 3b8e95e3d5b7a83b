package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// literal is a value known when it is compiled.
type literal struct{ v value.Value }

func (l *literal) eval(*Frame) (value.Value, error) { return l.v, nil }

// failure is an expression that fails whenever it is evaluated.
type failure struct{ err error }

func (x failure) eval(*Frame) (value.Value, error) { return value.Null, x.err }

// param is a parameter, from 1.
type param int

func (p param) eval(f *Frame) (value.Value, error) {
	if int(p) > len(f.Params) {
		return value.Null, fault.New(fault.Query, "parameter $%d is not given", int(p))
	}
	return f.Params[p-1], nil
}

// now is the statement's clock.
type now struct{}

func (now) eval(f *Frame) (value.Value, error) { return value.Timestamp(f.Now), nil }

// onceRun keeps what its node gives for the rest of the run.
type onceRun struct {
	node node
	at   int // in the frame's memo
}

func (o *onceRun) eval(f *Frame) (value.Value, error) {
	m := &f.memo[o.at]
	if !m.known {
		m.v, m.err = o.node.eval(f)
		m.known = true
	}
	return m.v, m.err
}

// idField is the document's id.
type idField struct{}

func (idField) eval(f *Frame) (value.Value, error) { return value.Int(int64(f.id)), nil }

// field is a field of the document.
type field struct {
	at        int
	typ       value.Type
	collation collation.Collation // how its texts are compared
}

func (x *field) eval(f *Frame) (value.Value, error) { return f.row.View(x.at, x.typ) }

// jsonPath is what lies under keys in a json field.
type jsonPath struct {
	at   int
	keys []string
}

func (x *jsonPath) eval(f *Frame) (value.Value, error) { return f.row.ViewPath(x.at, x.keys...) }

// path returns the node that reads p from the row.
func (c *Compiler) path(p *ql.Path) (node, error) {
	if c.fields == None {
		return nil, fault.New(fault.Query, "%s: there is no document to read %q from", p.Pos, p.String())
	}
	if p.Field == catalog.ID {
		if len(p.Keys) > 0 {
			return failure{NoPath(p, value.TypeInt)}, nil
		}
		return idField{}, nil
	}
	at, ok := c.col.Position(p.Field)
	if !ok {
		err := c.col.NoField(p.Field)
		if c.fields == Early {
			return nil, err
		}
		return failure{err}, nil
	}
	def := &c.col.Fields[at]
	t := def.Type
	switch {
	case len(p.Keys) == 0:
		return &field{at, t, def.Collation}, nil
	case !t.Is(value.BaseJSON):
		return failure{NoPath(p, t)}, nil
	}
	return &jsonPath{at, p.Keys}, nil
}

// NoPath returns the error for a path into a field of type t, which is not
// json.
func NoPath(p *ql.Path, t value.Type) error {
	return fault.New(fault.Type, "%q: field %q is %s, a path goes into json", p.String(), p.Field, t)
}
