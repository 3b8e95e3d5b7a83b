package value

import (
	"encoding/json"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// FromGo returns the Value of what a Go program hands in: nil, a bool, any
// integer or float, a string, a []byte, a time.Time (in whole milliseconds), a
// []float32 as a vector, other slices as a list, a map with string keys as an
// object, a struct as the object that StructOf tells of, a json.RawMessage or
// json.Number as what it says, and a Value as it is. Named types of these and
// pointers to them are taken too, a nil pointer as null. A sparse vector is given
// in its text form, which Coerce reads.
//
// Bytes, vectors and Values are not copied: the caller leaves them unchanged
// while the Value is in use. Text that is not UTF-8, a NaN, an unsigned number
// beyond an int64, a type that is none of these, and lists and objects more
// than 128 deep are a fault.Type; JSON that cannot be read is a fault.Query.
func FromGo(x any) (Value, error) { return fromGo(x, 0) }

func fromGo(x any, depth int) (Value, error) {
	switch x := x.(type) {
	case nil:
		return Null, nil
	case Value:
		return x, nil
	case bool:
		return Bool(x), nil
	case int:
		return Int(int64(x)), nil
	case int64:
		return Int(x), nil
	case float64:
		return goFloat(x)
	case string:
		return goText(x)
	case []byte:
		return Bytes(x), nil
	case time.Time:
		return goTime(x)
	case time.Duration:
		return Null, fault.New(fault.Type, "a time.Duration is no value: give its milliseconds as an int")
	case []float32:
		return Vector(x), nil
	case json.RawMessage:
		return ParseJSON(x)
	case json.Number:
		return goNumber(x)
	case map[string]any:
		return goMap(x, depth)
	case []any:
		return goList(len(x), func(i int) any { return x[i] }, depth)
	case []Value:
		return List(x), nil
	}
	return reflectGo(reflect.ValueOf(x), depth)
}

func goTime(t time.Time) (Value, error) {
	const most = math.MaxInt64/1000 - 1
	if s := t.Unix(); s > most || s < -most {
		return Null, fault.New(fault.Type, "a time.Time %d seconds from 1970 is out of range", s)
	}
	return Timestamp(t.UnixMilli()), nil
}

func goFloat(f float64) (Value, error) {
	if math.IsNaN(f) {
		return Null, fault.New(fault.Type, "NaN is not a value")
	}
	return Float(f), nil
}

func goText(s string) (Value, error) {
	if !utf8.ValidString(s) {
		return Null, fault.New(fault.Type, "a text that is not UTF-8; bytes are passed as []byte")
	}
	return Text(s), nil
}

func goNumber(n json.Number) (Value, error) {
	v, err := ParseJSONString(string(n))
	if err == nil && !isPlainNumber(v) {
		return Null, fault.New(fault.Query, "json: %q is not a number", abbreviate(string(n)))
	}
	return v, err
}

func goMap(m map[string]any, depth int) (Value, error) {
	if err := checkGoDepth(depth); err != nil {
		return Null, err
	}
	members := make([]Member, 0, len(m))
	for key, x := range m {
		member, err := goMember(key, x, depth)
		if err != nil {
			return Null, err
		}
		members = append(members, member)
	}
	return Object(members)
}

func goMember(key string, x any, depth int) (Member, error) {
	if _, err := goText(key); err != nil {
		return Member{}, err
	}
	v, err := fromGo(x, depth+1)
	return Member{Key: key, Value: v}, err
}

func goList(n int, at func(i int) any, depth int) (Value, error) {
	if err := checkGoDepth(depth); err != nil {
		return Null, err
	}
	elems := make([]Value, n)
	for i := range elems {
		v, err := fromGo(at(i), depth+1)
		if err != nil {
			return Null, err
		}
		elems[i] = v
	}
	return List(elems), nil
}

// checkGoDepth ends the descent into a map or slice that holds itself.
func checkGoDepth(depth int) error {
	if depth >= maxParseDepth {
		return fault.New(fault.Type, "more than %d lists and objects within each other", maxParseDepth)
	}
	return nil
}

// reflectGo is FromGo for all types but the commonest.
func reflectGo(x reflect.Value, depth int) (Value, error) {
	switch x.Kind() {
	case reflect.Bool:
		return Bool(x.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Int(x.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if x.Uint() > math.MaxInt64 {
			return Null, fault.New(fault.Type, "%d is beyond the range of an int", x.Uint())
		}
		return Int(int64(x.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return goFloat(x.Float())
	case reflect.String:
		return goText(x.String())
	case reflect.Pointer, reflect.Interface:
		if x.IsNil() {
			return Null, nil
		}
		if err := checkGoDepth(depth); err != nil {
			return Null, err
		}
		return fromGo(x.Elem().Interface(), depth+1)
	case reflect.Slice, reflect.Array:
		return reflectList(x, depth)
	case reflect.Map:
		return reflectMap(x, depth)
	case reflect.Struct:
		return reflectStruct(x, depth)
	}
	return Null, noValue(x.Type())
}

func noValue(t reflect.Type) error {
	return fault.New(fault.Type, "a Go value of type %s is not a value", t)
}

func reflectList(x reflect.Value, depth int) (Value, error) {
	if x.Kind() == reflect.Slice {
		vector := reflect.TypeFor[[]float32]()
		switch {
		case x.Type().Elem().Kind() == reflect.Uint8:
			return Bytes(x.Bytes()), nil
		case x.CanConvert(vector):
			return Vector(x.Convert(vector).Interface().([]float32)), nil
		}
	}
	return goList(x.Len(), func(i int) any { return x.Index(i).Interface() }, depth)
}

func reflectMap(x reflect.Value, depth int) (Value, error) {
	if x.Type().Key().Kind() != reflect.String {
		return Null, fault.New(fault.Type, "a map with keys of type %s is not a value", x.Type().Key())
	}
	if err := checkGoDepth(depth); err != nil {
		return Null, err
	}
	members := make([]Member, 0, x.Len())
	for it := x.MapRange(); it.Next(); {
		member, err := goMember(it.Key().String(), it.Value().Interface(), depth)
		if err != nil {
			return Null, err
		}
		members = append(members, member)
	}
	return Object(members)
}

// Go returns v as a Go program takes it: nil, bool, int64, float64, a time.Time
// in UTC, string, []byte, []float32, []any or map[string]any; a sparse vector as
// the string of its text form. Slices and maps are copies; the string of a text
// shares v's memory, see Clone.
func (v Value) Go() any {
	switch v.kind {
	case KindBool:
		return v.num != 0
	case KindInt:
		return int64(v.num)
	case KindFloat:
		return v.AsFloat()
	case KindTimestamp:
		return time.UnixMilli(int64(v.num)).UTC()
	case KindText:
		return v.str()
	case KindBytes:
		return append([]byte{}, v.AsBytes()...)
	case KindVector:
		return append([]float32{}, v.AsVector()...)
	case KindList:
		list := make([]any, v.Len())
		for i, e := range v.AsList() {
			list[i] = e.Go()
		}
		return list
	case KindSparse:
		dim, entries := v.AsSparse()
		return string(appendSparseText(nil, dim, entries))
	case KindObject:
		m := make(map[string]any, v.Len())
		for _, member := range v.AsObject() {
			m[member.Key] = member.Value.Go()
		}
		return m
	}
	return nil
}
