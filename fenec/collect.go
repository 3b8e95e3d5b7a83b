package fenec

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// ScanStruct stores the columns in the fields of the struct that dest points
// to: in the field with the tag `fenec:"name"`, or else in the exported field
// whose name is the column's but for case. Fields of embedded structs take
// columns too; of several that would, the outermost does, then the one with the
// tag, then the first. Columns without a field are left out; a tag "-" takes a
// field out. Null is stored as Scan does, but sets a field with the option
// omitempty to its zero value.
//
// It reads what a struct as an argument writes, see the package's documentation.
func (r Row) ScanStruct(dest any) error {
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("scan: the destination is a %T, want a pointer to a struct", dest)
	}
	s := p.Elem()
	for i, f := range r.res.fieldsOf(s.Type()) {
		if f == nil {
			continue
		}
		if err := r.scanField(i, f, s); err != nil {
			return fmt.Errorf("column %q: %w", r.res.columns()[i], err)
		}
	}
	return nil
}

func (r Row) scanField(i int, f *value.StructField, s reflect.Value) error {
	if field, ok := f.In(s, false); ok && (field.Type() == jsonType || r.res.isNested(i)) {
		if done, err := r.scanStored(i, field.Addr().Interface()); done || err != nil {
			return err
		}
	}
	v, err := r.res.value(r.at, i)
	if err != nil {
		return err
	}
	if r.res.rows.HoldsJSON(i) {
		if field, ok := f.In(s, !v.IsNull()); ok {
			v = withTimes(v, field.Type())
		}
	}
	return assignField(s, f, v)
}

// Collect reads all rows of a result into structs, as ScanStruct does.
func Collect[T any](res *Result) ([]T, error) {
	out := make([]T, res.Len())
	for i := range out {
		if err := (Row{res, i}).ScanStruct(&out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// assignStruct stores the members of an object in the fields that ScanStruct
// would choose. A time in json is text.
func assignStruct(dst reflect.Value, v value.Value) error {
	if v.Kind() != value.KindObject {
		return misfit(dst, v)
	}
	s := value.StructOf(dst.Type())
	for _, m := range v.AsObject() {
		f := s.Field(m.Key)
		if f == nil {
			continue
		}
		x := m.Value
		if f.Time && x.Kind() == value.KindText {
			if at, err := value.ToTimestamp(x); err == nil {
				x = at
			}
		}
		if err := assignField(dst, f, x); err != nil {
			return fmt.Errorf("member %q: %w", m.Key, err)
		}
	}
	return nil
}

// assignField sets a field of the struct s to v. Null leaves an embedded pointer
// that is nil as it is.
func assignField(s reflect.Value, f *value.StructField, v value.Value) error {
	field, ok := f.In(s, !v.IsNull())
	switch {
	case !ok:
		return nil
	case v.IsNull() && f.OmitEmpty:
		field.SetZero()
		return nil
	}
	return assign(field, v)
}

// columnFields is which field of a struct takes each of some columns, nil where
// none does.
type columnFields struct {
	of      reflect.Type
	columns []string
	fields  []*value.StructField
}

// lastFields is the columnFields that each struct type was last scanned with, by
// reflect.Type.
var lastFields sync.Map

// fieldsOf returns for each column the field of t that takes it, or nil.
func (r *Result) fieldsOf(t reflect.Type) []*value.StructField {
	if r.fields == nil || r.fields.of != t {
		r.fields = fieldsFor(t, r.columns())
	}
	return r.fields.fields
}

func fieldsFor(t reflect.Type, columns []string) *columnFields {
	if last, ok := lastFields.Load(t); ok && slices.Equal(last.(*columnFields).columns, columns) {
		return last.(*columnFields)
	}
	s := value.StructOf(t)
	fields := make([]*value.StructField, len(columns))
	for i, name := range columns {
		fields[i] = s.Field(name)
	}
	out := &columnFields{t, columns, fields}
	lastFields.Store(t, out)
	return out
}
