package catalog

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// define returns the collection a statement declares, numbered from next on.
func define(def *ql.CreateCollection, next uint32) (*Collection, error) {
	c := &Collection{Number: next, Name: def.Name.Text, RowSpace: next}
	for i := range def.Fields {
		f, err := defineField(&def.Fields[i])
		if err != nil {
			return nil, err
		}
		if f.Index != nil {
			next++
			f.Index.Space = next
		}
		c.Fields = append(c.Fields, f)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.seal(), nil
}

func defineField(def *ql.FieldDef) (Field, error) {
	t, err := defineType(&def.Type)
	if err != nil {
		return Field{}, err
	}
	f := Field{Name: def.Name.Text, Type: t, Required: def.Required}
	if def.Index != nil {
		f.Index = &Index{Kind: indexKinds[def.Index.Kind]}
	}
	return f, nil
}

var indexKinds = map[ql.IndexKind]IndexKind{
	ql.IndexHash:   Hash,
	ql.IndexUnique: Unique,
	ql.IndexSorted: Sorted,
}

var plainTypes = map[ql.TypeKind]value.Type{
	ql.TypeBool:      value.TypeBool,
	ql.TypeInt:       value.TypeInt,
	ql.TypeFloat:     value.TypeFloat,
	ql.TypeText:      value.TypeText,
	ql.TypeBytes:     value.TypeBytes,
	ql.TypeTimestamp: value.TypeTimestamp,
	ql.TypeJSON:      value.TypeJSON,
}

func defineType(def *ql.TypeDef) (value.Type, error) {
	switch def.Kind {
	case ql.TypeList:
		elem, err := defineType(def.Elem)
		return value.ListType(elem), err
	case ql.TypeVector:
		if def.Dim < 1 || def.Dim > value.MaxDim {
			return value.Type{}, fault.New(fault.Query, "vector<%d>: a vector has 1 to %d components", def.Dim, value.MaxDim)
		}
		return value.VectorType(int(def.Dim), def.Half), nil
	}
	return plainTypes[def.Kind], nil
}

// check returns why c cannot be a collection, its numbers aside.
func (c *Collection) check() error {
	switch {
	case !validName(c.Name):
		return fault.New(fault.Query, "%.80q cannot be the name of a collection", c.Name)
	case len(c.Fields) == 0:
		return fault.New(fault.Query, "collection %q needs a field", c.Name)
	case len(c.Fields) > MaxFields:
		return fault.New(fault.Query, "collection %q has more than %d fields", c.Name, MaxFields)
	}
	names := make(map[string]bool, len(c.Fields))
	for i := range c.Fields {
		f := &c.Fields[i]
		if err := f.check(); err != nil {
			return err
		}
		if names[f.Name] {
			return fault.New(fault.Exists, "field %q is there twice", f.Name)
		}
		names[f.Name] = true
	}
	return nil
}

// validName reports whether a collection or a field may have that name: without
// a dot, which joins a field and a key, and of at most MaxName bytes.
func validName(name string) bool {
	return name != "" && len(name) <= MaxName && !strings.Contains(name, ".")
}

func (f *Field) check() error {
	switch {
	case f.Name == ID:
		return fault.New(fault.Query, "every document has an %q, it cannot be declared", ID)
	case !validName(f.Name):
		return fault.New(fault.Query, "%.80q cannot be the name of a field", f.Name)
	}
	if err := f.Type.Check(); err != nil {
		return f.wrong(err)
	}
	if f.Index == nil {
		return nil
	}
	if err := f.Index.Kind.allows(f.Type); err != nil {
		return f.wrong(err)
	}
	return nil
}

// wrong names the field in an error of package fault.
func (f *Field) wrong(err error) error {
	return Named(f.Name, err)
}
