package fenec

import (
	"reflect"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

var timeType = reflect.TypeFor[time.Time]()

// withTimes returns v, which is of json, as a destination of type t takes it:
// json has texts for times. The members of structs are assignStruct's.
func withTimes(v value.Value, t reflect.Type) value.Value {
	if t == nil {
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		return withTimes(v, t.Elem())
	case reflect.Struct:
		if t == timeType && v.Kind() == value.KindText {
			if at, err := value.ParseTimestamp(v.AsText()); err == nil {
				return at
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == value.KindList && holdsTimes(t) {
			return elementsWithTimes(v, t.Elem())
		}
	case reflect.Map:
		if v.Kind() == value.KindObject && holdsTimes(t) {
			return membersWithTimes(v, t.Elem())
		}
	}
	return v
}

// holdsTimes reports whether t is a time, or pointers, lists or maps of times. A
// type may be a list of itself.
func holdsTimes(t reflect.Type) bool {
	for range value.MaxJSONDepth {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return t == timeType
		}
	}
	return false
}

func elementsWithTimes(v value.Value, t reflect.Type) value.Value {
	elems := make([]value.Value, 0, v.Len())
	for _, e := range v.AsList() {
		elems = append(elems, withTimes(e, t))
	}
	return value.List(elems)
}

func membersWithTimes(v value.Value, t reflect.Type) value.Value {
	members := make([]value.Member, 0, v.Len())
	for _, m := range v.AsObject() {
		members = append(members, value.Member{Key: m.Key, Value: withTimes(m.Value, t)})
	}
	// The keys are those of an object, hence all different.
	out, _ := value.Object(members)
	return out
}
