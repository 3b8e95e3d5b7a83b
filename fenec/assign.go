package fenec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

var (
	timeType = reflect.TypeFor[time.Time]()
	jsonType = reflect.TypeFor[json.RawMessage]()
)

// assign sets dst to v.
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
	if v.IsNull() {
		switch dst.Kind() {
		case reflect.Interface, reflect.Slice, reflect.Map:
			dst.SetZero()
			return nil
		}
		return misfit(dst, v)
	}
	if dst.Type() == jsonType && v.Kind() != value.KindBytes {
		dst.SetBytes(value.AppendJSON(nil, v))
		return nil
	}
	if dst.Type() == timeType && v.Kind() == value.KindTimestamp {
		dst.Set(reflect.ValueOf(time.UnixMilli(v.AsInt()).UTC()))
		return nil
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
		if v.Kind() == value.KindText {
			dst.SetString(v.AsText())
			return nil
		}
	case reflect.Slice:
		return assignSlice(dst, v)
	case reflect.Map:
		return assignMap(dst, v)
	case reflect.Struct:
		return assignStruct(dst, v)
	case reflect.Interface:
		x := reflect.ValueOf(v.Go())
		if x.Type().AssignableTo(dst.Type()) {
			dst.Set(x)
			return nil
		}
	}
	return misfit(dst, v)
}

func assignSlice(dst reflect.Value, v value.Value) error {
	switch v.Kind() {
	case value.KindBytes:
		if dst.Type().Elem().Kind() == reflect.Uint8 {
			dst.SetBytes(append([]byte(nil), v.AsBytes()...))
			return nil
		}
	case value.KindVector:
		x := v.AsVector()
		out := reflect.MakeSlice(dst.Type(), len(x), len(x))
		for i, f := range x {
			if err := assign(out.Index(i), value.Float(float64(f))); err != nil {
				return err
			}
		}
		dst.Set(out)
		return nil
	case value.KindList:
		x := v.AsList()
		out := reflect.MakeSlice(dst.Type(), len(x), len(x))
		for i := range x {
			if err := assign(out.Index(i), x[i]); err != nil {
				return err
			}
		}
		dst.Set(out)
		return nil
	}
	return misfit(dst, v)
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

// assignStruct stores the members of an object, as those of children are, in
// the fields that ScanStruct would choose.
func assignStruct(dst reflect.Value, v value.Value) error {
	if v.Kind() != value.KindObject {
		return misfit(dst, v)
	}
	for _, m := range v.AsObject() {
		f := fieldFor(dst.Type(), m.Key)
		if f < 0 {
			continue
		}
		if err := assign(dst.Field(f), m.Value); err != nil {
			return fmt.Errorf("member %q: %w", m.Key, err)
		}
	}
	return nil
}
