package value

import "math"

// ToFloat16 returns the IEEE 754 binary16 nearest to f, the even one of two
// equally near. What rounds beyond 65504 becomes an infinity.
func ToFloat16(f float32) uint16 {
	const (
		mantBits = 23
		minNorm  = 0x38800000 // 2^-14, the least normal float16
		overflow = 0x477ff000 // 65520, from where on rounding leaves the range
		inf      = 0x7f800000
	)
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &^= 1 << 31
	switch {
	case b > inf:
		return sign | 0x7e00
	case b >= overflow:
		return sign | 0x7c00
	case b >= minNorm:
		// Drop 13 bits of the mantissa, rounding to even; a carry out of it
		// raises the exponent, as it should.
		b += 0xfff + b>>13&1
		return sign | uint16((b-(127-15)<<mantBits)>>13)
	}
	// Subnormal: adding 0.5 shifts the mantissa so that its last bit is worth
	// 2^-24, and lets the processor round to even.
	sub := math.Float32frombits(b) + 0.5
	return sign | uint16(math.Float32bits(sub)-math.Float32bits(0.5))
}

// FromFloat16 returns the value of an IEEE 754 binary16, which a float32 holds
// exactly.
func FromFloat16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1f)
	mant := uint32(h & 0x3ff)
	switch exp {
	case 0:
		// mant * 2^-24 is exact in a float32.
		f := float32(mant) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | mant<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | mant<<13)
}
