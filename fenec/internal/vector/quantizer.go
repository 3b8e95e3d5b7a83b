package vector

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
)

// Quantizer turns vectors of one dimension into short codes, which choose
// candidates without the vectors. It does not change and may be used
// concurrently.
//
// A code is for the memory of this process: it is in the processor's byte order
// and must begin at an address that is a multiple of 8, as it does in an array
// of codes, whose sizes are multiples of 8.
type Quantizer interface {
	// CodeSize returns the length of a code in bytes.
	CodeSize() int
	// Encode writes the code of v to code, CodeSize bytes.
	Encode(code []byte, v []float32)
	// NewMeasure returns a Measure of codes. It is set to no vector yet.
	NewMeasure() Measure
	// Append appends the encoding that ParseQuantizer reads.
	Append(dst []byte) []byte
}

// Measure estimates distances from one vector to codes. It is for one goroutine
// at a time.
type Measure interface {
	// SetVector has distances measured from v.
	SetVector(v []float32)
	// SetCode has distances measured from the vector behind a code.
	SetCode(code *byte)
	// Distances sets each out[i] to about the distance to codes[i], lower is nearer:
	// 1 less the similarity (Cosine), the square of the distance (L2) or the
	// negative product (Dot). Estimates are finite, and may lie a little outside
	// of what a distance can be. Codes that out has no room for are fetched, as
	// DotMany does.
	Distances(codes []*byte, out []float32)
}

// ErrCorrupt is returned for bytes that no quantizer was encoded as.
var ErrCorrupt = errors.New("vector: corrupt quantizer")

// The first byte of an encoded quantizer.
const (
	formInt8 = 1
	formBits = 2
)

const (
	headerSize   = 1 + 1 + 4 // form, metric, dimension
	checksumSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ParseQuantizer returns the quantizer that b is the encoding of, or ErrCorrupt.
func ParseQuantizer(b []byte) (Quantizer, error) {
	if len(b) < headerSize+checksumSize {
		return nil, ErrCorrupt
	}
	body, sum := b[:len(b)-checksumSize], b[len(b)-checksumSize:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return nil, ErrCorrupt
	}
	m, dim := Metric(body[1]), int64(binary.LittleEndian.Uint32(body[2:]))
	vectors, ok := readVectors(body[headerSize:], dim)
	switch {
	case !ok:
	case body[0] == formInt8 && m <= Dot && len(vectors) == 1:
		return newInt8(m, vectors[0]), nil
	case body[0] == formBits && m == Cosine && len(vectors) <= maxCentroids:
		return newBits(vectors), nil
	}
	return nil, ErrCorrupt
}

// appendQuantizer appends an encoding: the header, the vectors, which have one
// dimension, and a CRC32C of it all. Numbers are little endian.
func appendQuantizer(dst []byte, form byte, m Metric, vectors [][]float32) []byte {
	start := len(dst)
	dst = append(dst, form, byte(m))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(vectors[0])))
	for _, v := range vectors {
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return appendChecksum(dst, start)
}

// appendChecksum appends the CRC32C of what dst holds from start on.
func appendChecksum(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// readVectors returns the vectors that all of b consists of, at least one.
func readVectors(b []byte, dim int64) (vectors [][]float32, ok bool) {
	if dim == 0 || len(b) == 0 || int64(len(b))%(4*dim) != 0 {
		return nil, false
	}
	all := make([]float32, len(b)/4)
	for i := range all {
		all[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if all[i]-all[i] != 0 {
			return nil, false
		}
	}
	return split(all, int(dim)), true
}

// split returns the vectors of dim components that lie in all one after another.
func split(all []float32, dim int) [][]float32 {
	vectors := make([][]float32, len(all)/dim)
	for i := range vectors {
		vectors[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return vectors
}
