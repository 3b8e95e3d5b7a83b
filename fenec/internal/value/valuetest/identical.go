package valuetest

import (
	"bytes"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Identical reports whether a and b are of the same kind and hold the same
// content throughout: 3 and 3.0 differ, and so do 0.0 and -0.0.
func Identical(a, b value.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.KindNull:
		return true
	case value.KindBool:
		return a.AsBool() == b.AsBool()
	case value.KindInt, value.KindTimestamp:
		return a.AsInt() == b.AsInt()
	case value.KindFloat:
		return math.Float64bits(a.AsFloat()) == math.Float64bits(b.AsFloat())
	case value.KindText:
		return a.AsText() == b.AsText()
	case value.KindBytes:
		return bytes.Equal(a.AsBytes(), b.AsBytes())
	case value.KindVector:
		return slices.EqualFunc(a.AsVector(), b.AsVector(), sameBits)
	case value.KindList:
		return slices.EqualFunc(a.AsList(), b.AsList(), Identical)
	case value.KindSparse:
		dimA, x := a.AsSparse()
		dimB, y := b.AsSparse()
		return dimA == dimB && slices.Equal(x, y)
	}
	return slices.EqualFunc(a.AsObject(), b.AsObject(), func(x, y value.Member) bool {
		return x.Key == y.Key && Identical(x.Value, y.Value)
	})
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
