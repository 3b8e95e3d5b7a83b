package fenec

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

var (
	jsonType   = reflect.TypeFor[json.RawMessage]()
	vectorType = reflect.TypeFor[[]float32]()
)

// assignPlain sets what dest points to, which is of one of the commonest types, to v.
// It reports false, and does nothing, if dest is another or v does not fit.
func assignPlain(dest any, v value.Value) bool {
	switch d := dest.(type) {
	case *int64:
		return d != nil && assignInt(d, v)
	case *int:
		return d != nil && assignInt(d, v)
	case *string:
		if d != nil && v.Kind() == value.KindText {
			*d = v.AsText()
			return true
		}
	case *float64:
		if f, ok := v.Number(); d != nil && ok && v.Kind() != value.KindTimestamp {
			*d = f
			return true
		}
	case *bool:
		if d != nil && v.Kind() == value.KindBool {
			*d = v.AsBool()
			return true
		}
	case *time.Time:
		if d != nil && v.Kind() == value.KindTimestamp {
			*d = time.UnixMilli(v.AsInt()).UTC()
			return true
		}
	case *any:
		if d != nil {
			*d = v.Go()
			return true
		}
	default:
		return assignPlainSlice(dest, v)
	}
	return false
}

func assignInt[T int | int64](d *T, v value.Value) bool {
	if v.Kind() != value.KindInt || int64(T(v.AsInt())) != v.AsInt() {
		return false
	}
	*d = T(v.AsInt())
	return true
}

// assignPlainSlice is assignPlain for slices.
func assignPlainSlice(dest any, v value.Value) bool {
	switch d := dest.(type) {
	case *[]byte:
		if d != nil && v.Kind() == value.KindBytes {
			*d = append([]byte{}, v.AsBytes()...)
			return true
		}
	case *[]float32:
		if d != nil && v.Kind() == value.KindVector {
			*d = slices.Clone(v.AsVector())
			return true
		}
	case *json.RawMessage:
		switch {
		case d == nil || v.IsNull():
			return false
		case v.Kind() == value.KindBytes:
			*d = append(json.RawMessage{}, v.AsBytes()...)
		default:
			*d = value.AppendJSON(nil, v)
		}
		return true
	}
	return false
}

// assign sets dst, which is addressable, to v.
func assign(dst reflect.Value, v value.Value) error {
	if dst.Kind() == reflect.Pointer {
		if v.IsNull() {
			dst.SetZero()
			return nil
		}
		p := reflect.New(dst.Type().Elem())
		dst.Set(p)
		return assign(p.Elem(), v)
	}
	switch dst.Kind() {
	case reflect.Interface, reflect.Slice, reflect.Map:
		if v.IsNull() {
			dst.SetZero()
			return nil
		}
	}
	return assignKind(dst, v)
}

func misfit(dst reflect.Value, v value.Value) error {
	return fault.New(fault.Type, "%s does not fit Go type %s", v.Kind(), dst.Type())
}

func assignKind(dst reflect.Value, v value.Value) error {
	switch dst.Kind() {
	case reflect.Bool:
		if v.Kind() == value.KindBool {
			dst.SetBool(v.AsBool())
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.Kind() == value.KindInt && !dst.OverflowInt(v.AsInt()) {
			dst.SetInt(v.AsInt())
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Kind() == value.KindInt && v.AsInt() >= 0 && !dst.OverflowUint(uint64(v.AsInt())) {
			dst.SetUint(uint64(v.AsInt()))
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if f, ok := v.Number(); ok && v.Kind() != value.KindTimestamp && !dst.OverflowFloat(f) {
			dst.SetFloat(f)
			return nil
		}
	case reflect.String:
		switch v.Kind() {
		case value.KindText:
			dst.SetString(v.AsText())
			return nil
		case value.KindSparse:
			dst.SetString(v.Go().(string))
			return nil
		}
	case reflect.Array:
		return assignArray(dst, v)
	case reflect.Map:
		return assignMap(dst, v)
	case reflect.Slice, reflect.Struct, reflect.Interface:
		return assignType(dst, v)
	}
	return misfit(dst, v)
}

// assignType is assign for kinds of which some types take values in a way of
// their own.
func assignType(dst reflect.Value, v value.Value) error {
	if assignPlain(dst.Addr().Interface(), v) {
		return nil
	}
	switch dst.Kind() {
	case reflect.Slice:
		return assignSlice(dst, v)
	case reflect.Struct:
		return assignStruct(dst, v)
	}
	if x := reflect.ValueOf(v.Go()); x.Type().AssignableTo(dst.Type()) {
		dst.Set(x)
		return nil
	}
	return misfit(dst, v)
}

func assignSlice(dst reflect.Value, v value.Value) error {
	t := dst.Type()
	switch {
	case v.Kind() == value.KindBytes && t.Elem().Kind() == reflect.Uint8:
		dst.SetBytes(append([]byte{}, v.AsBytes()...))
		return nil
	case v.Kind() == value.KindVector && vectorType.ConvertibleTo(t):
		dst.Set(reflect.ValueOf(slices.Clone(v.AsVector())).Convert(t))
		return nil
	case v.Kind() == value.KindVector, v.Kind() == value.KindList:
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		if err := assignElements(out, v); err != nil {
			return err
		}
		dst.Set(out)
		return nil
	}
	return misfit(dst, v)
}

// assignArray sets an array, which takes as many elements as it has.
func assignArray(dst reflect.Value, v value.Value) error {
	out := reflect.New(dst.Type()).Elem()
	switch {
	case v.Len() != dst.Len():
		return misfit(dst, v)
	case v.Kind() == value.KindBytes && dst.Type().Elem().Kind() == reflect.Uint8:
		copy(out.Slice(0, out.Len()).Bytes(), v.AsBytes())
	case v.Kind() == value.KindVector, v.Kind() == value.KindList:
		if err := assignElements(out, v); err != nil {
			return err
		}
	default:
		return misfit(dst, v)
	}
	dst.Set(out)
	return nil
}

// assignElements sets the elements of a slice or an array to those of a vector
// or a list of the same length.
func assignElements(out reflect.Value, v value.Value) error {
	if v.Kind() == value.KindVector {
		for i, f := range v.AsVector() {
			if err := assign(out.Index(i), value.Float(float64(f))); err != nil {
				return err
			}
		}
		return nil
	}
	for i, e := range v.AsList() {
		if err := assign(out.Index(i), e); err != nil {
			return err
		}
	}
	return nil
}

func assignMap(dst reflect.Value, v value.Value) error {
	if v.Kind() != value.KindObject || dst.Type().Key().Kind() != reflect.String {
		return misfit(dst, v)
	}
	members := v.AsObject()
	out := reflect.MakeMapWithSize(dst.Type(), len(members))
	for _, m := range members {
		x := reflect.New(dst.Type().Elem()).Elem()
		if err := assign(x, m.Value); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(m.Key).Convert(dst.Type().Key()), x)
	}
	dst.Set(out)
	return nil
}
