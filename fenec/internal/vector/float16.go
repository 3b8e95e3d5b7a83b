package vector

import (
	"encoding/binary"
	"math"
)

// ToFloat16 returns the IEEE 754 binary16 nearest to f, the even one of two
// equally near. What rounds beyond 65504 becomes an infinity.
func ToFloat16(f float32) uint16 {
	const (
		least    = 0x1p-14 // the least normal float16
		overflow = 65520   // halfway to what would come after 65504
	)
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	size := math.Float32frombits(b &^ (1 << 31))
	switch {
	case size < least:
		// Adding 0.5 makes the last bit of the mantissa worth 2^-24, as it is
		// in a subnormal float16, and has the processor round to it.
		return sign | uint16(math.Float32bits(size+0.5)-math.Float32bits(0.5))
	case size < overflow:
		// 13 bits of the mantissa are dropped. A carry out of it raises the
		// exponent, as it should.
		b = math.Float32bits(size) - (127-15)<<23
		return sign | uint16((b+0xfff+b>>13&1)>>13)
	case size >= overflow:
		return sign | 0x7c00
	}
	return sign | 0x7e00 // a NaN
}

// FromFloat16 returns the value of an IEEE 754 binary16, which a float32 holds
// exactly.
func FromFloat16(h uint16) float32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)<<13
	if h&0x7c00 == 0x7c00 {
		return math.Float32frombits(sign | 0x7f800000 | rest)
	}
	// The exponent is 127-15 too low. Multiplying also makes subnormals normal.
	size := math.Float32frombits(rest) * 0x1p112
	return math.Float32frombits(sign | math.Float32bits(size))
}

// AppendFloat16s appends the float16s nearest to x, little endian.
func AppendFloat16s(dst []byte, x []float32) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, 2*len(x))...)
	n := writeFloat16s(dst[start:], x)
	for i, f := range x[n:] {
		binary.LittleEndian.PutUint16(dst[start+2*(n+i):], ToFloat16(f))
	}
	return dst
}

// ReadFloat16s sets x to the float16s in b, of which there are as many, little
// endian.
func ReadFloat16s(x []float32, b []byte) {
	b = b[:2*len(x)]
	for i := readFloat16s(x, b); i < len(x); i++ {
		x[i] = FromFloat16(binary.LittleEndian.Uint16(b[2*i:]))
	}
}
