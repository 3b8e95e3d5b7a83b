package value

import "math/bits"

const (
	eachByte = 0x0101010101010101 // 1 in each byte of a word
	highBits = 0x80 * eachByte
)

// plainEnd returns where, from byte i on, the first quote, backslash or control
// character below U+0020 of s is; len(s) if there is none. It looks at eight bytes
// at a time: a byte of a word is below n if subtracting n sets its high bit, which
// was not set before, unless a lower byte has borrowed from it. The lowest byte that
// is found is therefore a true one.
func plainEnd[T string | []byte](s T, i int) int {
	for len(s)-i >= 8 {
		w := word(s[i : i+8])
		control := (w - 0x20*eachByte) &^ w
		quote := w ^ '"'*eachByte
		quote = (quote - eachByte) &^ quote
		slash := w ^ '\\'*eachByte
		slash = (slash - eachByte) &^ slash
		if found := (control | quote | slash) & highBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
		i += 8
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// word returns the eight bytes of s as a number, the first one lowest.
func word[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
