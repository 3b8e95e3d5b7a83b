package value

import (
	"math"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// MaxJSONDepth is how many lists and objects may lie within each other in a
// json field.
const MaxJSONDepth = 64

// Coerce returns v as a field of type t stores it, or a fault.Type that says
// what was met and what was wanted:
//
//	null       fits every type
//	bool       a bool
//	int        an int, a float without a fraction, a timestamp's milliseconds
//	float      a float other than NaN, an int; minus zero becomes 0
//	text       a text, a timestamp in its text form
//	bytes      bytes, a text's UTF-8, a list of whole numbers from 0 to 255
//	timestamp  a timestamp, an int of milliseconds, a text ParseTimestamp reads
//	vector     a vector or a list of numbers, of as many as the type has, each
//	           finite once rounded to float32, or to float16
//	sparse     a sparse vector of the type's dimension, a text ParseSparse reads
//	geo        a list or a vector of two numbers, longitude and latitude in
//	           degrees and in range, which becomes a list of two floats
//	[T]        a list whose elements fit T, and a vector as a list of floats
//	json       what JSON can express, no deeper than MaxJSONDepth; a timestamp
//	           becomes text, a vector a list; no bytes and no sparse vector
//
// The result may share memory with v.
func Coerce(v Value, t Type) (Value, error) {
	switch {
	case v.kind == KindNull:
		return v, nil
	case t.lists > 0:
		return toList(v, t)
	}
	switch t.base {
	case BaseBool:
		if v.kind == KindBool {
			return v, nil
		}
	case BaseInt:
		return toInt(v)
	case BaseFloat:
		return toFloat(v)
	case BaseText:
		switch v.kind {
		case KindText:
			return v, nil
		case KindTimestamp:
			return timestampText(v), nil
		}
	case BaseBytes:
		return toBytes(v)
	case BaseTimestamp:
		return ToTimestamp(v)
	case BaseVector:
		return toVector(v, t)
	case BaseSparse:
		return toSparse(v, t)
	case BaseGeo:
		return toPoint(v)
	case BaseJSON:
		return toJSON(v, 0)
	}
	return Null, mismatch(v, t)
}

// ToTimestamp returns a timestamp as it is, an int as milliseconds since 1970,
// a text as ParseTimestamp reads it, and null for null. Other kinds are a
// fault.Type.
func ToTimestamp(v Value) (Value, error) {
	switch v.kind {
	case KindNull, KindTimestamp:
		return v, nil
	case KindInt:
		return Timestamp(int64(v.num)), nil
	case KindText:
		return ParseTimestamp(v.str())
	}
	return Null, mismatch(v, TypeTimestamp)
}

func mismatch(v Value, t Type) error {
	return fault.New(fault.Type, "want %s, got %s", t, describe(v))
}

// describe names a value in a message: its kind, and what is short to tell.
func describe(v Value) string {
	switch v.kind {
	case KindBool, KindInt, KindFloat:
		return v.kind.String() + " " + v.String()
	case KindVector, KindList:
		return "a " + v.kind.String() + " of " + strconv.Itoa(v.Len())
	case KindSparse:
		dim, _ := v.AsSparse()
		return SparseType(dim).String()
	}
	return v.kind.String()
}

func timestampText(v Value) Value {
	return Text(string(AppendTimestamp(nil, int64(v.num))))
}

func toInt(v Value) (Value, error) {
	switch v.kind {
	case KindInt:
		return v, nil
	case KindTimestamp:
		return Int(int64(v.num)), nil
	case KindFloat:
		if i, ok := wholeFloat(v.AsFloat()); ok {
			return Int(i), nil
		}
	}
	return Null, mismatch(v, TypeInt)
}

// wholeFloat returns f as an int64 when it has no fraction and is in range. The
// lowest int64 is left out: as a float it stands for the ints below it too.
func wholeFloat(f float64) (int64, bool) {
	if f != math.Trunc(f) || f <= -1<<63 || f >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

func toFloat(v Value) (Value, error) {
	switch v.kind {
	case KindFloat:
		if math.IsNaN(v.AsFloat()) {
			return Null, fault.New(fault.Type, "want %s, got NaN", TypeFloat)
		}
		return Float(v.AsFloat() + 0), nil // minus zero becomes 0
	case KindInt:
		return Float(float64(int64(v.num))), nil
	}
	return Null, mismatch(v, TypeFloat)
}

func toBytes(v Value) (Value, error) {
	switch v.kind {
	case KindBytes:
		return v, nil
	case KindText:
		v.kind = KindBytes // the same memory, which nobody may change
		return v, nil
	case KindList:
		return listBytes(v)
	}
	return Null, mismatch(v, TypeBytes)
}

func listBytes(v Value) (Value, error) {
	elems := v.AsList()
	b := make([]byte, len(elems))
	for i, e := range elems {
		n, err := toInt(e)
		if err != nil || !isPlainNumber(e) || n.num > math.MaxUint8 {
			return Null, fault.New(fault.Type, "want %s, got a list with %s at %d, not a number from 0 to 255",
				TypeBytes, describe(e), i)
		}
		b[i] = byte(n.num)
	}
	return Bytes(b), nil
}

func toVector(v Value, t Type) (Value, error) {
	if v.kind != KindVector && v.kind != KindList || v.Len() != t.dim {
		return Null, mismatch(v, t)
	}
	if v.kind == KindList {
		return listVector(v.AsList(), t)
	}
	x := v.AsVector()
	if t.f16 {
		x = make([]float32, len(x))
		copy(x, v.AsVector())
	}
	if err := fitComponents(x, t); err != nil {
		return Null, err
	}
	return Vector(x), nil
}

func listVector(elems []Value, t Type) (Value, error) {
	x := make([]float32, len(elems))
	for i, e := range elems {
		if !isPlainNumber(e) {
			return Null, fault.New(fault.Type, "want %s, got a list with %s at %d", t, describe(e), i)
		}
		f, _ := e.Number()
		if t.f16 && math.Abs(f) > maxHalf {
			return Null, unfit(t, i)
		}
		x[i] = float32(f)
	}
	if err := fitComponents(x, t); err != nil {
		return Null, err
	}
	return Vector(x), nil
}

// maxHalf is the greatest float16. What is beyond it is refused as it is given, also
// where it would be rounded to it: whether it comes as a float64 or as a float32
// makes no difference then.
const maxHalf = 65504

// fitComponents refuses what t has no room for, and rounds x in place to the
// precision of t, which leaves float32s as they are.
func fitComponents(x []float32, t Type) error {
	most := float32(math.MaxFloat32)
	if t.f16 {
		most = maxHalf
	}
	for i, f := range x {
		if !(-most <= f && f <= most) {
			return unfit(t, i)
		}
	}
	if t.f16 {
		toHalves(x)
	}
	return nil
}

func unfit(t Type, i int) error {
	return fault.New(fault.Type, "want %s, got a number at %d that is beyond what it holds", t, i)
}

// toHalves rounds x in place to float16.
func toHalves(x []float32) {
	var room [256]byte
	for len(x) > 0 {
		part := x[:min(len(x), len(room)/2)]
		vector.ReadFloat16s(part, vector.AppendFloat16s(room[:0], part))
		x = x[len(part):]
	}
}

func toList(v Value, t Type) (Value, error) {
	if v.kind == KindVector {
		v = vectorList(v.AsVector())
	}
	if v.kind != KindList {
		return Null, mismatch(v, t)
	}
	elem := t.Elem()
	return mapList(v, func(e Value) (Value, error) {
		out, err := Coerce(e, elem)
		if err != nil && t.lists == 1 && t.base < BaseVector { // the others say more themselves
			err = fault.New(fault.Type, "want %s, got a list with %s", t, describe(e))
		}
		return out, err
	})
}

// vectorList returns a vector's components as floats, each the one that its
// shortest decimal reads as, so that 0.1 stays 0.1.
func vectorList(x []float32) Value {
	var buf [64]byte
	elems := make([]Value, len(x))
	for i, f := range x {
		wide := float64(f)
		if f-f == 0 {
			// Every finite float32 has a decimal that reads back.
			text := strconv.AppendFloat(buf[:0], wide, 'e', -1, 32)
			wide, _ = strconv.ParseFloat(string(text), 64)
		}
		elems[i] = Float(wide)
	}
	return List(elems)
}

// toJSON returns v as a json field holds it. depth is the number of lists and
// objects around v.
func toJSON(v Value, depth int) (Value, error) {
	switch v.kind {
	case KindTimestamp:
		return timestampText(v), nil
	case KindFloat:
		if f := v.AsFloat(); f-f != 0 {
			return Null, fault.New(fault.Type, "want json, got a float that is not finite")
		}
	case KindBytes, KindSparse:
		return Null, mismatch(v, TypeJSON)
	case KindVector:
		return toJSON(vectorList(v.AsVector()), depth)
	case KindList, KindObject:
		if depth == MaxJSONDepth {
			return Null, fault.New(fault.Type, "want json, got more than %d lists and objects within each other", MaxJSONDepth)
		}
		inner := func(e Value) (Value, error) { return toJSON(e, depth+1) }
		if v.kind == KindList {
			return mapList(v, inner)
		}
		return mapObject(v, inner)
	}
	return v, nil
}

// mapList returns a list of what f makes of v's elements; v itself when f
// changes none.
func mapList(v Value, f func(Value) (Value, error)) (Value, error) {
	elems := v.AsList()
	var out []Value
	for i, e := range elems {
		x, err := f(e)
		if err != nil {
			return Null, err
		}
		if out == nil && !sameWords(x, e) {
			out = append(make([]Value, 0, len(elems)), elems[:i]...)
		}
		if out != nil {
			out = append(out, x)
		}
	}
	if out == nil {
		return v, nil
	}
	return List(out), nil
}

// mapObject is mapList for an object's members.
func mapObject(v Value, f func(Value) (Value, error)) (Value, error) {
	members := v.AsObject()
	var out []Member
	for i, m := range members {
		x, err := f(m.Value)
		if err != nil {
			return Null, err
		}
		if out == nil && !sameWords(x, m.Value) {
			out = append(make([]Member, 0, len(members)), members[:i]...)
		}
		if out != nil {
			out = append(out, Member{Key: m.Key, Value: x})
		}
	}
	if out == nil {
		return v, nil
	}
	return object(out), nil
}

// sameWords reports whether a and b are the same scalar or share their memory.
func sameWords(a, b Value) bool {
	return a.kind == b.kind && a.num == b.num && a.ptr == b.ptr
}
