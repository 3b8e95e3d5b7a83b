package catalog

import (
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// define returns the collection a statement declares, numbered from next on.
func define(def *ql.CreateCollection, next uint32) (*Collection, error) {
	c := &Collection{Number: next, Name: def.Name.Text, RowSpace: next}
	for i := range def.Fields {
		f, err := defineField(&def.Fields[i], i)
		if err != nil {
			return nil, err
		}
		if f.Index != nil {
			next++
			f.Index.Space = f.Index.Kind.space(next)
		}
		c.Fields = append(c.Fields, f)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.seal(), nil
}

// defineField returns the field that def declares, at that place. Its index has
// no space yet.
func defineField(def *ql.FieldDef, place int) (Field, error) {
	f := Field{Name: def.Name.Text, Required: def.Required}
	if err := checkNewName(f.Name); err != nil {
		return Field{}, err
	}
	var ok bool
	if f.Collation, ok = collation.Parse(def.Collate); !ok {
		return Field{}, f.wrong(fault.New(fault.Query, "unknown collation %.80q", def.Collate))
	}
	var err error
	if f.Type, err = defineType(&def.Type); err != nil {
		return Field{}, f.wrong(err)
	}
	if err := f.check(); err != nil {
		return Field{}, err
	}
	if def.Index == nil {
		return f, nil
	}
	if f.Index, err = defineIndex(def.Index, f.Type); err != nil {
		return Field{}, f.wrong(err)
	}
	f.Index.Field = place
	return f, nil
}

var plainTypes = map[ql.TypeKind]value.Type{
	ql.TypeBool:      value.TypeBool,
	ql.TypeInt:       value.TypeInt,
	ql.TypeFloat:     value.TypeFloat,
	ql.TypeText:      value.TypeText,
	ql.TypeBytes:     value.TypeBytes,
	ql.TypeTimestamp: value.TypeTimestamp,
	ql.TypeJSON:      value.TypeJSON,
	ql.TypeGeo:       value.TypeGeo,
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
	case ql.TypeSparse:
		if def.Dim < 1 || def.Dim > value.MaxSparseDim {
			return value.Type{}, fault.New(fault.Query, "sparse<%d>: a sparse vector has dimension 1 to %d", def.Dim, value.MaxSparseDim)
		}
		return value.SparseType(int(def.Dim)), nil
	}
	return plainTypes[def.Kind], nil
}
