package rest

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Schemas returns the collection of that name as the request may see it, or nil.
type Schemas func(name string) *Collection

// find returns the collection of that name, or why there is none.
func (s Schemas) find(name string) (*Collection, error) {
	if c := s(name); c != nil {
		return c, nil
	}
	return nil, fault.New(fault.NotFound, "no collection %.80q", name)
}

// Collection is what translating needs to know of a collection. What it tells never
// changes: make it once for each definition. It is safe for concurrent use.
type Collection struct {
	name   string
	fields map[string]*field // and the id
	list   []*field          // in the order declared
	insert string            // the statement that inserts what is its argument
	reads  translations
}

// field is a field of a collection, or its id.
type field struct {
	name  string
	typ   value.Type
	index catalog.IndexKind // 0 without an index
	path  *ql.Path

	// constant is set for a field called "null", "true" or "false": as a value
	// the word is the constant, so that no expression can name the field.
	constant bool
}

// NewCollection returns what translating needs to know of c.
func NewCollection(c *catalog.Collection) *Collection {
	out := &Collection{name: c.Name, fields: make(map[string]*field, len(c.Fields)+1)}
	out.fields[catalog.ID] = newField(catalog.ID, value.TypeInt)
	for i := range c.Fields {
		from := &c.Fields[i]
		if from.Dropped() {
			continue
		}
		f := newField(from.Name, from.Type)
		if from.Index != nil {
			f.index = from.Index.Kind
		}
		out.fields[f.name] = f
		out.list = append(out.list, f)
	}
	out.insert = ql.Print(&ql.Put{Insert: true, Into: ql.Name{Text: c.Name}, Param: &firstParams[0]})
	return out
}

func newField(name string, t value.Type) *field {
	e, _ := ql.ParseExpr(name)
	_, ok := e.(*ql.Path)
	return &field{name: name, typ: t, path: &ql.Path{Field: name}, constant: !ok}
}

// operand is a field or a place within a json field, as an expression names it.
type operand struct {
	path *ql.Path
	typ  value.Type
}

// operand returns what key names: a field, or by a dotted key a place within a
// json field.
func (c *Collection) operand(key string) (operand, error) {
	if f := c.fields[key]; f != nil {
		return operand{f.path, f.typ}, nil
	}
	name, _, dotted := strings.Cut(key, ".")
	f := c.fields[name]
	if !dotted || f == nil || !f.typ.Is(value.BaseJSON) {
		return operand{}, c.noField(key)
	}
	e, err := ql.ParseExpr(key)
	p, ok := e.(*ql.Path)
	if err != nil || !ok || p.String() != key {
		return operand{}, fault.New(fault.Query, "%.80q is no path: its keys are to be names", key)
	}
	return operand{p, value.TypeJSON}, nil
}

// value returns what key names where it stands for a value.
func (c *Collection) value(key string) (operand, error) {
	if f := c.fields[key]; f != nil && f.constant {
		return operand{}, fault.New(fault.Query, "the field %q of collection %q has the name of a constant", key, c.name)
	}
	return c.operand(key)
}

// field returns the field of that name, which may be the id.
func (c *Collection) field(name string) (*field, error) {
	if f := c.fields[name]; f != nil {
		return f, nil
	}
	return nil, c.noField(name)
}

func (c *Collection) noField(name string) error {
	return fault.New(fault.NotFound, "no field %.80q in collection %q", name, c.name)
}
