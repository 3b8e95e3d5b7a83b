package posting

import (
	"encoding/binary"
	"math/bits"
)

// maxPacked is the greatest width at which an element lies within 8 bytes
// whatever bit it begins at. A wider one takes all 64 bits.
const maxPacked = 57

// packed is an array of numbers of the same width in bits, read where it lies.
type packed struct {
	data  []byte // from the first element on, and at least 8 bytes from the last
	width uint
	mask  uint64
}

func newPacked(data []byte, width uint) packed {
	return packed{data, width, 1<<width - 1}
}

// at returns element i.
func (p *packed) at(i int) uint64 {
	bit := uint(i) * p.width
	return binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7) & p.mask
}

// widthOf returns the width of elements up to greatest.
func widthOf(greatest uint64) uint {
	if n := uint(bits.Len64(greatest)); n <= maxPacked {
		return n
	}
	return 64
}

// soundWidth reports whether an array may have this width.
func soundWidth(width uint) bool { return width <= maxPacked || width == 64 }

// packedSize returns the bytes of n elements.
func packedSize(n int, width uint) int { return (n*int(width) + 7) / 8 }

// appendPacked appends n elements to dst.
func appendPacked(dst []byte, n int, width uint, element func(i int) uint64) []byte {
	start, size := len(dst), packedSize(n, width)
	dst = append(dst, make([]byte, size+8)...)
	array := dst[start:]
	for i := range n {
		bit := uint(i) * width
		at := array[bit>>3:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)|element(i)<<(bit&7))
	}
	return dst[:start+size]
}
