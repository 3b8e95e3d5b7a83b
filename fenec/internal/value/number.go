package value

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
)

// AppendJSONFloat appends a float: whole numbers below 1e15 as digits, all
// others as the shortest decimal that reads back as f, never with an exponent.
// Minus zero is 0, and what is not finite is null.
func AppendJSONFloat(dst []byte, f float64) []byte {
	if whole := int64(f); float64(whole) == f && whole > -1e15 && whole < 1e15 {
		return strconv.AppendInt(dst, whole, 10)
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, "null"...)
	}
	if out, ok := appendThousandths(dst, f); ok {
		return out
	}
	b := math.Float64bits(f)
	exp := int(b >> 52 & 0x7ff)
	mant := b & (1<<52 - 1)
	if exp == 0 {
		exp++
	} else {
		mant |= 1 << 52
	}
	return appendShortest(dst, f, 64, -(exp - 1075 + bits.TrailingZeros64(mant)))
}

// AppendJSONFloat32 appends a float32, as vectors and scores hold them: the
// shortest decimal that reads back as f, never with an exponent. Minus zero is
// -0, and what is not finite is null.
func AppendJSONFloat32(dst []byte, f float32) []byte {
	b := math.Float32bits(f)
	if whole := int32(f); float32(whole) == f && whole > -1<<24 && whole < 1<<24 && b != 1<<31 {
		return strconv.AppendInt(dst, int64(whole), 10)
	}
	switch {
	case b&0x7f800000 == 0x7f800000:
		return append(dst, "null"...)
	case b&^(1<<31) == 0x15AE43FD:
		// The shortest decimal of this one float32 lies so close to the middle
		// between two that reading it as a float64 first gives the other.
		return strconv.AppendFloat(dst, float64(f), 'f', -1, 64)
	}
	exp := int(b >> 23 & 0xff)
	mant := b & (1<<23 - 1)
	if exp == 0 {
		exp++
	} else {
		mant |= 1 << 23
	}
	return appendShortest(dst, float64(f), 32, -(exp - 150 + bits.TrailingZeros32(mant)))
}

// appendThousandths appends f when it is a number of at most three decimals and
// fifteen digits, as prices and measures are. A decimal so short that reads
// back as f is the only one, hence the shortest.
func appendThousandths(dst []byte, f float64) ([]byte, bool) {
	abs := math.Abs(f)
	if abs >= 1e12 {
		return dst, false
	}
	n := int64(abs*1000 + 0.5)
	if n == 0 || float64(n)/1000 != abs {
		return dst, false
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendInt(dst, n/1000, 10)
	frac := n % 1000
	dst = append(dst, '.', byte('0'+frac/100), byte('0'+frac/10%10), byte('0'+frac%10))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst, true
}

// appendShortest appends the shortest decimal of f, which is not a whole number
// when places > 0; places is how many decimals its exact value has, which are
// as many as its binary places.
//
// Of two shortest decimals that are equally near, strconv gives the one with
// the even last digit and this function the one further from zero. They are
// equally near only if f lies in the middle of them, which takes one decimal
// more: a 5.
func appendShortest(dst []byte, f float64, bitSize, places int) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, bitSize)
	if places <= 1 {
		return dst
	}
	text := dst[start:]
	point := bytes.IndexByte(text, '.')
	if point < 0 || len(text)-point-1 != places-1 {
		return dst
	}
	exact := strconv.AppendFloat(nil, f, 'f', places, bitSize)
	if bytes.Equal(text, exact[:len(exact)-1]) {
		text[len(text)-1]++ // even, so there is no carry
	}
	return dst
}
