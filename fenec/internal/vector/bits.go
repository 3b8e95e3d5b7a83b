package vector

import (
	"math"
	"slices"
	"unsafe"
)

// maxCentroids is the greatest number of centroids that codes of bits refer to.
const maxCentroids = 128

// Bits is a Quantizer of one bit a component, for Cosine.
//
// Vectors are made as long as 1 and rotated, so that all components tell about as
// much. A code holds the number of the centroid c nearest to such a vector x, and
// the signs s (1 or -1) of what is left, r = x - c. The product of a vector q
// with x is then
//
//	q·x = q·c + r·c + (q - c)·r
//
// of which the first term is known for a query and the second for a code. The
// third is estimated from the signs as RaBitQ does (Gao and Long,
// arXiv:2405.12497): (q - c)·s * r·r/(r·s). Its error does not lean to either side,
// and falls with the distances of both from c.
type Bits struct {
	dim      int
	rotation *rotation
	*centroids
}

// bitsTail follows the words of a code, 64 components in each.
type bitsTail struct {
	factor   float32 // r·r/(r·s)
	term     float32 // r·c - factor * c·s
	ones     uint32  // how many signs are positive
	centroid uint32
}

// LearnBits returns a Bits for vectors such as those of the sample: one at least,
// and better 2048.
func LearnBits(sample [][]float32) *Bits {
	dim := len(sample[0])
	z := &Bits{dim: dim, rotation: newRotation(dim)}
	units := split(make([]float32, len(sample)*dim), dim)
	for i, v := range sample {
		z.turn(units[i], v)
	}
	z.centroids = newCentroids(kMeans(units, min(maxCentroids, len(units))))
	return z
}

// newBits returns a Bits with the given centroids of rotated vectors.
func newBits(vectors [][]float32) *Bits {
	dim := len(vectors[0])
	return &Bits{dim: dim, rotation: newRotation(dim), centroids: newCentroids(vectors)}
}

// turn sets unit to the direction of v, rotated.
func (z *Bits) turn(unit, v []float32) {
	Normalize(unit, v)
	z.rotation.apply(unit)
}

// words returns how many words hold the signs.
func (z *Bits) words() int { return (z.dim + 63) / 64 }

// CodeSize returns the length of a code: a bit a component, rounded up to a
// multiple of 8 bytes, and 16 bytes.
func (z *Bits) CodeSize() int { return 8*z.words() + int(unsafe.Sizeof(bitsTail{})) }

// open returns the parts of a code.
func (z *Bits) open(code *byte) (words []uint64, tail *bitsTail) {
	return unsafe.Slice((*uint64)(unsafe.Pointer(code)), z.words()), z.tail(code)
}

func (z *Bits) tail(code *byte) *bitsTail {
	return (*bitsTail)(unsafe.Add(unsafe.Pointer(code), 8*z.words()))
}

// Encode writes the code of v.
func (z *Bits) Encode(code []byte, v []float32) {
	code = code[:z.CodeSize()]
	x := make([]float32, len(v))
	z.turn(x, v)
	nearest := z.nearest(x)
	words, tail := z.open(unsafe.SliceData(code))
	*tail = signs(words, x, z.vectors[nearest])
	tail.centroid = uint32(nearest)
}

// signs sets words to the signs of r = x - c, and returns what follows from
// them.
func signs(words []uint64, x, c []float32) bitsTail {
	clear(words)
	var squares, sizes, along, signed float64 // r·r, r·s, r·c, c·s
	ones := uint32(0)
	for i, f := range x {
		ci := float64(c[i])
		r := float64(f) - ci
		squares += r * r
		sizes += math.Abs(r)
		along += r * ci
		if r > 0 {
			words[i/64] |= 1 << (i % 64)
			ones++
			signed += ci
		} else {
			signed -= ci
		}
	}
	factor := 0.0
	if sizes > 0 {
		factor = squares / sizes
	}
	return bitsTail{factor: float32(factor), term: float32(along - factor*signed), ones: ones}
}

// NewMeasure returns a Measure of codes.
func (z *Bits) NewMeasure() Measure {
	return &bitsMeasure{
		Bits: z, unit: make([]float32, z.dim), planes: make([][8]uint64, z.words()),
		products: make([]float32, len(z.vectors)),
	}
}

// Append appends the encoding of z.
func (z *Bits) Append(dst []byte) []byte { return appendQuantizer(dst, formBits, Cosine, z.vectors) }

// bitsMeasure measures from a vector of length 1, rotated.
type bitsMeasure struct {
	*Bits
	unit     []float32
	products []float32 // of the vector with each centroid
	sum      float64   // of the vector's components

	// The vector's components are least + step*n, where the bits of n lie in
	// the planes: bit i%64 of planes[i/64][p] is worth 2^p.
	planes      [][8]uint64
	least, step float64

	sums []int32
}

func (q *bitsMeasure) SetVector(v []float32) {
	q.turn(q.unit, v)
	q.set()
}

// SetCode measures from c + a*s, which is nearest to x when a is r·s divided by
// the dimension. For components like normally distributed ones that is the
// factor times 2/π.
func (q *bitsMeasure) SetCode(code *byte) {
	words, tail := q.open(code)
	size := tail.factor * (2 / math.Pi)
	for i, x := range q.vectors[tail.centroid] {
		if words[i/64]>>(i%64)&1 == 1 {
			q.unit[i] = x + size
		} else {
			q.unit[i] = x - size
		}
	}
	q.set()
}

// set prepares for q.unit.
func (q *bitsMeasure) set() {
	DotMany(q.unit, q.rows, q.products)
	least, most := q.unit[0], q.unit[0]
	q.sum = 0
	for _, x := range q.unit {
		least, most = min(least, x), max(most, x)
		q.sum += float64(x)
	}
	q.least, q.step = float64(least), (float64(most)-float64(least))/255
	q.setPlanes()
}

// setPlanes sets the planes, 8 components at a time.
func (q *bitsMeasure) setPlanes() {
	clear(q.planes)
	perStep := 0.0
	if q.step > 0 {
		perStep = 1 / q.step
	}
	for i := 0; i < len(q.unit); i += 8 {
		var bytes uint64
		for j, x := range q.unit[i:min(i+8, len(q.unit))] {
			n := int((float64(x)-q.least)*perStep + 0.5)
			bytes |= uint64(n) << (8 * j)
		}
		bytes = transpose(bytes)
		planes := &q.planes[i/64]
		for p := range planes {
			planes[p] |= bytes >> (8 * p) & 0xff << (i % 64)
		}
	}
}

// transpose makes bit r of byte c what bit c of byte r was: it swaps bits, pairs
// of bits and halves of bytes (Warren, Hacker's Delight, 7-3).
func transpose(x uint64) uint64 {
	swap := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= swap ^ swap<<7
	swap = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= swap ^ swap<<14
	swap = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ swap ^ swap<<28
}

func (q *bitsMeasure) Distances(codes []*byte, out []float32) {
	if len(out) == 0 {
		return
	}
	_ = codes[len(out)-1]
	q.sums = slices.Grow(q.sums[:0], len(out))[:len(out)]
	rows := unsafe.Slice((**uint64)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
	planesMany(q.planes, rows, q.sums)
	for i, sum := range q.sums {
		tail := q.tail(codes[i])
		positive := q.least*float64(tail.ones) + q.step*float64(sum)
		signed := 2*positive - q.sum // q·s
		out[i] = float32(1 - float64(q.products[tail.centroid]) - float64(tail.term) - float64(tail.factor)*signed)
	}
}
