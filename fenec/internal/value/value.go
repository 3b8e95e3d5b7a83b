package value

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// Kind says what a Value holds.
type Kind uint8

// The kinds of values. Their numbers are no part of any stored form.
const (
	KindNull Kind = iota
	KindBool
	KindInt
	KindFloat
	KindTimestamp
	KindText
	KindBytes
	KindVector
	KindList
	KindSparse
	KindObject
)

var kindNames = [...]string{
	KindNull:      "null",
	KindBool:      "bool",
	KindInt:       "int",
	KindFloat:     "float",
	KindTimestamp: "timestamp",
	KindText:      "text",
	KindBytes:     "bytes",
	KindVector:    "vector",
	KindList:      "list",
	KindSparse:    "sparse",
	KindObject:    "object",
}

// String returns the kind's name as messages give it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Value is one value of any kind. The zero Value is null.
//
// A Value is three words: scalars lie in it, everything longer is pointed to.
// It owns nothing: what it points to must not change while the Value is used.
type Value struct {
	_ [0]func() // not comparable with ==

	// ptr is the first byte of a text or bytes, the first component of a
	// vector, the first Value of a list, the first Member of an object, or a
	// sparse; nil for scalars, and of any use only with a sparse where the length
	// is 0.
	ptr unsafe.Pointer

	// num is a scalar's bits, or the number of elements ptr points to, which
	// are the entries of a sparse.
	num uint64

	kind Kind
}

// Null is the null value.
var Null = Value{}

// Bool returns a bool.
func Bool(b bool) Value {
	v := Value{kind: KindBool}
	if b {
		v.num = 1
	}
	return v
}

// Int returns an int.
func Int(i int64) Value { return Value{kind: KindInt, num: uint64(i)} }

// Float returns a float. A NaN is representable but accepted nowhere: FromGo
// and Coerce refuse it.
func Float(f float64) Value { return Value{kind: KindFloat, num: math.Float64bits(f)} }

// Timestamp returns the moment ms milliseconds after 1970-01-01T00:00:00Z.
func Timestamp(ms int64) Value { return Value{kind: KindTimestamp, num: uint64(ms)} }

// Text returns a text. s must be valid UTF-8.
func Text(s string) Value {
	return Value{kind: KindText, ptr: unsafe.Pointer(unsafe.StringData(s)), num: uint64(len(s))}
}

// Bytes returns a byte string. b is kept and must not be changed.
func Bytes(b []byte) Value {
	return Value{kind: KindBytes, ptr: unsafe.Pointer(unsafe.SliceData(b)), num: uint64(len(b))}
}

// Vector returns a vector. x is kept and must not be changed.
func Vector(x []float32) Value {
	return Value{kind: KindVector, ptr: unsafe.Pointer(unsafe.SliceData(x)), num: uint64(len(x))}
}

// List returns a list. elems is kept and must not be changed.
func List(elems []Value) Value {
	return Value{kind: KindList, ptr: unsafe.Pointer(unsafe.SliceData(elems)), num: uint64(len(elems))}
}

// object returns an object of members that are in order and differ in keys.
func object(members []Member) Value {
	return Value{kind: KindObject, ptr: unsafe.Pointer(unsafe.SliceData(members)), num: uint64(len(members))}
}

// Kind returns what v holds.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// IsNumber reports whether v is an int, a float or a timestamp.
func (v Value) IsNumber() bool { return v.kind >= KindInt && v.kind <= KindTimestamp }

// AsBool returns a bool's value. Like the other As methods it panics when v is
// of another kind.
func (v Value) AsBool() bool {
	v.must(KindBool)
	return v.num != 0
}

// AsInt returns an int's value, or a timestamp's milliseconds.
func (v Value) AsInt() int64 {
	if v.kind != KindInt && v.kind != KindTimestamp {
		v.must(KindInt)
	}
	return int64(v.num)
}

// AsFloat returns a float's value.
func (v Value) AsFloat() float64 {
	v.must(KindFloat)
	return math.Float64frombits(v.num)
}

// AsText returns a text's value. It shares the memory of v.
func (v Value) AsText() string {
	v.must(KindText)
	return v.str()
}

// AsBytes returns a byte string's value, which must not be changed.
func (v Value) AsBytes() []byte {
	v.must(KindBytes)
	return unsafe.Slice((*byte)(v.ptr), int(v.num))
}

// AsVector returns a vector's components, which must not be changed.
func (v Value) AsVector() []float32 {
	v.must(KindVector)
	return unsafe.Slice((*float32)(v.ptr), int(v.num))
}

// AsList returns a list's elements, which must not be changed.
func (v Value) AsList() []Value {
	v.must(KindList)
	return unsafe.Slice((*Value)(v.ptr), int(v.num))
}

// AsObject returns an object's members by ascending key. They must not be
// changed.
func (v Value) AsObject() []Member {
	v.must(KindObject)
	return unsafe.Slice((*Member)(v.ptr), int(v.num))
}

// Number returns the float64 nearest to an int, a float or a timestamp, and
// whether v is one of these.
func (v Value) Number() (float64, bool) {
	switch v.kind {
	case KindInt, KindTimestamp:
		return float64(int64(v.num)), true
	case KindFloat:
		return math.Float64frombits(v.num), true
	}
	return 0, false
}

// Len returns the number of bytes of a text or bytes, of components of a
// vector, of elements of a list, of entries of a sparse vector and of members of
// an object; 0 for the rest.
func (v Value) Len() int {
	if v.kind < KindText {
		return 0
	}
	return int(v.num)
}

// Clone returns a Value equal to v that shares no memory with it.
func Clone(v Value) Value {
	switch v.kind {
	case KindText, KindBytes:
		s := strings.Clone(v.str())
		v.ptr = unsafe.Pointer(unsafe.StringData(s))
	case KindVector:
		return Vector(append([]float32(nil), v.AsVector()...))
	case KindList:
		elems := make([]Value, v.Len())
		for i, e := range v.AsList() {
			elems[i] = Clone(e)
		}
		return List(elems)
	case KindSparse:
		dim, entries := v.AsSparse()
		return sparseOf(&sparse{dim, slices.Clone(entries)})
	case KindObject:
		members := make([]Member, v.Len())
		for i, m := range v.AsObject() {
			members[i] = Member{Key: strings.Clone(m.Key), Value: Clone(m.Value)}
		}
		return object(members)
	}
	return v
}

// String returns v as JSON, for messages and tests, but that an infinite float,
// by itself or in a list, is named: JSON has it as null.
func (v Value) String() string { return string(appendNamed(nil, v)) }

func appendNamed(dst []byte, v Value) []byte {
	switch {
	case v.kind == KindFloat && math.IsInf(v.AsFloat(), 1):
		return append(dst, "Infinity"...)
	case v.kind == KindFloat && math.IsInf(v.AsFloat(), -1):
		return append(dst, "-Infinity"...)
	case v.kind == KindList:
		return appendJSONList(dst, v.AsList(), appendNamed)
	}
	return AppendJSON(dst, v)
}

// str returns the bytes of a text or a byte string as a string that shares
// their memory.
func (v Value) str() string { return unsafe.String((*byte)(v.ptr), int(v.num)) }

// must panics when v is not of kind k: the caller has not looked.
func (v Value) must(k Kind) {
	if v.kind != k {
		panic("value: a " + v.kind.String() + " read as " + k.String())
	}
}
