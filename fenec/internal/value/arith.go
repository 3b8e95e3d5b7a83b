package value

import (
	"math"
	"math/bits"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// Add returns a + b: of numbers, of a timestamp and an int in either order,
// and of two texts. As in every operation of this file, null on a side gives
// null; kinds without a meaning together are a fault.Type; an int or timestamp
// that overflows, a division by zero and a float that is not finite are a
// fault.Query.
func Add(a, b Value) (Value, error) {
	switch {
	case a.kind == KindNull || b.kind == KindNull:
		return Null, nil
	case a.kind == KindText && b.kind == KindText:
		return Text(a.str() + b.str()), nil
	case a.kind == KindInt && b.kind == KindInt:
		return addInts(KindInt, a, b)
	case a.kind == KindTimestamp && b.kind == KindInt,
		a.kind == KindInt && b.kind == KindTimestamp:
		return addInts(KindTimestamp, a, b)
	}
	return floatOp(a, b, '+')
}

// Sub returns a - b: of numbers, of an int from a timestamp, and of two
// timestamps, which gives an int of milliseconds.
func Sub(a, b Value) (Value, error) {
	switch {
	case a.kind == KindNull || b.kind == KindNull:
		return Null, nil
	case a.kind == KindInt && b.kind == KindInt,
		a.kind == KindTimestamp && b.kind == KindTimestamp:
		return subInts(KindInt, a, b)
	case a.kind == KindTimestamp && b.kind == KindInt:
		return subInts(KindTimestamp, a, b)
	}
	return floatOp(a, b, '-')
}

// Mul returns a * b of numbers.
func Mul(a, b Value) (Value, error) {
	switch {
	case a.kind == KindNull || b.kind == KindNull:
		return Null, nil
	case a.kind == KindInt && b.kind == KindInt:
		return mulInts(int64(a.num), int64(b.num))
	}
	return floatOp(a, b, '*')
}

// Div returns a / b of numbers. Of two ints it is an int, cut toward zero.
func Div(a, b Value) (Value, error) {
	switch {
	case a.kind == KindNull || b.kind == KindNull:
		return Null, nil
	case a.kind == KindInt && b.kind == KindInt:
		return divInts(int64(a.num), int64(b.num))
	}
	return floatOp(a, b, '/')
}

// Neg returns -v, computed as v * -1.
func Neg(v Value) (Value, error) { return Mul(v, Int(-1)) }

func addInts(kind Kind, a, b Value) (Value, error) {
	x, y := int64(a.num), int64(b.num)
	sum := x + y
	if (sum > x) != (y > 0) {
		return Null, overflow(a, b, '+')
	}
	return Value{kind: kind, num: uint64(sum)}, nil
}

func subInts(kind Kind, a, b Value) (Value, error) {
	x, y := int64(a.num), int64(b.num)
	diff := x - y
	if (diff < x) != (y > 0) {
		return Null, overflow(a, b, '-')
	}
	return Value{kind: kind, num: uint64(diff)}, nil
}

func mulInts(a, b int64) (Value, error) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	if hi != 0 || lo > limit {
		return Null, overflow(Int(a), Int(b), '*')
	}
	if negative {
		lo = -lo
	}
	return Int(int64(lo)), nil
}

func divInts(a, b int64) (Value, error) {
	switch {
	case b == 0:
		return Null, fault.New(fault.Query, "%d / 0: division by zero", a)
	case b == -1 && a == math.MinInt64:
		return Null, overflow(Int(a), Int(b), '/')
	}
	return Int(a / b), nil
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// floatOp computes a op b where one side is a float and the other an int or a
// float. All other kinds end here too, and are refused.
func floatOp(a, b Value, op byte) (Value, error) {
	if !isPlainNumber(a) || !isPlainNumber(b) {
		return Null, fault.New(fault.Type, "%s %c %s is not defined", a.kind, op, b.kind)
	}
	x, _ := a.Number()
	y, _ := b.Number()
	var r float64
	switch op {
	case '+':
		r = x + y
	case '-':
		r = x - y
	case '*':
		r = x * y
	case '/':
		if y == 0 {
			return Null, fault.New(fault.Query, "%s / %s: division by zero", a, b)
		}
		r = x / y
	}
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return Null, fault.New(fault.Query, "%s %c %s is not a finite number", a, op, b)
	}
	return Float(r), nil
}

func isPlainNumber(v Value) bool { return v.kind == KindInt || v.kind == KindFloat }

func overflow(a, b Value, op byte) error {
	return fault.New(fault.Query, "%s %c %s is beyond 64 bits", a, op, b)
}
