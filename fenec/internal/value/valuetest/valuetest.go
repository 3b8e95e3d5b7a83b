// Package valuetest makes values for the tests of packages that store, order
// or print them.
package valuetest

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Rand returns a source that gives the same numbers in every run.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Any returns a value of any kind, with lists and objects up to depth within
// each other. Values come from small sets and their borders, so that two of
// them are often equal, or nearly so.
func Any(r *rand.Rand, depth int) value.Value {
	switch r.IntN(15) {
	case 0:
		return value.Timestamp(Int(r))
	case 1:
		return value.Bytes([]byte(Text(r)))
	case 2:
		return value.Vector(Vector(r, r.IntN(4)))
	case 3:
		return Sparse(r, 2+r.IntN(2))
	}
	return JSON(r, depth)
}

// JSON returns a value that JSON can express.
func JSON(r *rand.Rand, depth int) value.Value {
	n := 11
	if depth == 0 {
		n = 8
	}
	switch r.IntN(n) {
	case 0:
		return value.Null
	case 1:
		return value.Bool(r.IntN(2) == 0)
	case 2, 3:
		return value.Int(Int(r))
	case 4, 5:
		return value.Float(Float(r))
	case 6, 7:
		return value.Text(Text(r))
	case 8:
		return Object(r, depth-1)
	}
	return List(r, depth-1)
}

// List returns a list of up to four values that JSON can express.
func List(r *rand.Rand, depth int) value.Value {
	elems := make([]value.Value, r.IntN(5))
	for i := range elems {
		elems[i] = JSON(r, depth)
	}
	return value.List(elems)
}

// Object returns an object of up to four members.
func Object(r *rand.Rand, depth int) value.Value {
	var members []value.Member
	seen := map[string]bool{}
	for range r.IntN(5) {
		if key := Text(r); !seen[key] {
			seen[key] = true
			members = append(members, value.Member{Key: key, Value: JSON(r, depth)})
		}
	}
	v, err := value.Object(members)
	if err != nil {
		panic(err) // the keys differ
	}
	return v
}

// Int returns an int near zero, near a power of two, or anywhere.
func Int(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0:
		return r.Int64N(7) - 3
	case 1:
		n := int64(1)<<r.IntN(64) + r.Int64N(5) - 2
		if r.IntN(2) == 0 {
			n = -n
		}
		return n
	case 2:
		return r.Int64N(2e6) - 1e6
	}
	return int64(r.Uint64())
}

// Float returns a finite float: an int's, a decimal, a border, or any bits.
func Float(r *rand.Rand) float64 {
	switch r.IntN(5) {
	case 0:
		return float64(Int(r))
	case 1:
		return float64(r.Int64N(2e6)-1e6) / math.Pow10(r.IntN(7))
	case 2:
		borders := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1e15, 1e15 - 1, 1e-7, 1e300,
			math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, -1 << 53, 1 << 63, -1 << 63}
		return borders[r.IntN(len(borders))]
	case 3:
		return math.Ldexp(r.Float64(), r.IntN(120)-60)
	}
	for {
		if f := math.Float64frombits(r.Uint64()); f-f == 0 {
			return f
		}
	}
}

// Vector returns n finite components.
func Vector(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch f := math.Float32frombits(r.Uint32()); {
		case r.IntN(2) == 0:
			x[i] = float32(r.IntN(5)-2) / 2
		case f-f == 0:
			x[i] = f
		}
	}
	return x
}

// Sparse returns a sparse vector of dimension dim.
func Sparse(r *rand.Rand, dim int) value.Value {
	var entries []value.Entry
	for i, w := range Vector(r, dim) {
		if r.IntN(2) == 0 {
			entries = append(entries, value.Entry{Index: uint32(i + 1), Weight: w})
		}
	}
	v, err := value.Sparse(dim, entries)
	if err != nil {
		panic(err) // the indices differ
	}
	return v
}

// Text returns valid UTF-8 of up to twelve characters from a few that need
// care: NUL, quotes, controls, and characters of one to four bytes.
func Text(r *rand.Rand) string {
	chars := []string{"a", "a", "a", "b", "\x00", "\x01", "\xc2\x80", "\"", "\\", "\n", "\x1f", "\u00ff", "é", "\u2028", "\uffff", "🦀", "<"}
	var b strings.Builder
	for range r.IntN(13) {
		b.WriteString(chars[r.IntN(len(chars))])
	}
	return b.String()
}
