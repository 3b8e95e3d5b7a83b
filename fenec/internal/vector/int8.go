package vector

import (
	"math"
	"slices"
	"unsafe"
)

// Int8 is a Quantizer of one signed byte a component, for any metric. A code
// holds the vector less the mean of a sample, in steps of its own width: 1/127
// of its greatest component. Without a sample the mean is zero, which does as well
// for vectors that lie around the origin.
//
// Products of codes are exact up to 133,000 components.
type Int8 struct {
	metric  Metric
	mean    []float32
	squared float64 // the mean's squared length
}

// int8Tail follows the components of a code.
type int8Tail struct {
	// step is what a component of 1 is worth.
	step float32
	// term is what the code adds to a measure by itself: under L2 the squared
	// length of the vector that the code stands for, less the mean, and
	// otherwise the product of that with the mean.
	term float32
}

// LearnInt8 returns an Int8 for vectors of dim components such as those of the
// sample, which may be empty.
func LearnInt8(m Metric, dim int, sample [][]float32) *Int8 {
	sums, mean := make([]float64, dim), make([]float32, dim)
	for _, v := range sample {
		unit := unitFactor(m, v)
		for i, x := range v {
			sums[i] += float64(x) * unit
		}
	}
	for i, sum := range sums {
		mean[i] = float32(sum / float64(max(1, len(sample))))
	}
	return newInt8(m, mean)
}

func newInt8(m Metric, mean []float32) *Int8 {
	return &Int8{metric: m, mean: mean, squared: Product(mean, mean)}
}

// unitFactor returns what makes v a vector of length 1 where only its direction
// counts.
func unitFactor(m Metric, v []float32) float64 {
	if m != Cosine {
		return 1
	}
	length := Norm(v)
	if length == 0 {
		return 0
	}
	return 1 / length
}

// tailAt returns the offset of the tail, a multiple of 8.
func (z *Int8) tailAt() int { return (len(z.mean) + 7) &^ 7 }

// CodeSize returns the length of a code: a byte a component, rounded up to a
// multiple of 8, and 8 bytes.
func (z *Int8) CodeSize() int { return z.tailAt() + int(unsafe.Sizeof(int8Tail{})) }

func (z *Int8) tail(code *byte) *int8Tail {
	return (*int8Tail)(unsafe.Add(unsafe.Pointer(code), z.tailAt()))
}

// Encode writes the code of v.
func (z *Int8) Encode(code []byte, v []float32) {
	code = code[:z.CodeSize()]
	unit, greatest := unitFactor(z.metric, v), 0.0
	for i, x := range v {
		greatest = max(greatest, math.Abs(float64(x)*unit-float64(z.mean[i])))
	}
	perStep := 0.0
	if greatest > 0 {
		perStep = 127 / greatest
	}
	squares, product := 0, 0.0
	for i, x := range v {
		rest := float64(x)*unit - float64(z.mean[i])
		c := int(math.RoundToEven(rest * perStep))
		code[i] = byte(c)
		squares += c * c
		product += rest * float64(z.mean[i])
	}
	step := greatest / 127
	tail := int8Tail{step: narrow(step), term: narrow(product)}
	if z.metric == L2 {
		tail.term = narrow(float64(squares) * step * step)
	}
	*z.tail(unsafe.SliceData(code)) = tail
}

// NewMeasure returns a Measure of codes.
func (z *Int8) NewMeasure() Measure { return &int8Measure{Int8: z, code: make([]byte, z.CodeSize())} }

// Append appends the encoding of z.
func (z *Int8) Append(dst []byte) []byte {
	return appendQuantizer(dst, formInt8, z.metric, [][]float32{z.mean})
}

// int8Measure measures from a code, that of the vector it was given. The
// distance to another code is
//
//	base + sign*term + perStep*step*(product of the codes)
//
// as the product of two vectors is that of what is left without the mean, and
// their terms, and the mean's square; and a squared distance is the two terms less
// twice the product of what is left.
type int8Measure struct {
	*Int8
	code                []byte
	base, sign, perStep float64
	sums                []int32
}

func (q *int8Measure) SetVector(v []float32) {
	q.Encode(q.code, v)
	q.set()
}

func (q *int8Measure) SetCode(code *byte) {
	copy(q.code, unsafe.Slice(code, len(q.code)))
	q.set()
}

// set prepares for q.code.
func (q *int8Measure) set() {
	own := *q.tail(unsafe.SliceData(q.code))
	step, term := float64(own.step), float64(own.term)
	switch q.metric {
	case Cosine:
		q.base, q.sign, q.perStep = 1-q.squared-term, -1, -step
	case L2:
		q.base, q.sign, q.perStep = term, 1, -2*step
	case Dot:
		q.base, q.sign, q.perStep = -q.squared-term, -1, -step
	}
}

func (q *int8Measure) Distances(codes []*byte, out []float32) {
	if len(out) == 0 {
		return
	}
	_ = codes[len(out)-1]
	q.sums = slices.Grow(q.sums[:0], len(out))[:len(out)]
	ints := unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(q.code))), len(q.mean))
	rows := unsafe.Slice((**int8)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
	dotInt8Many(ints, rows, q.sums)
	for i, sum := range q.sums {
		other := q.tail(codes[i])
		rest := q.perStep * float64(other.step) * float64(sum)
		out[i] = narrow(q.base + q.sign*float64(other.term) + rest)
	}
}
