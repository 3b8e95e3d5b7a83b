package exec

import (
	"math"
	"math/bits"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// rowCounts is count(*).
type rowCounts struct{ n []int64 }

func (c *rowCounts) grow() { c.n = append(c.n, 0) }

func (c *rowCounts) add(g int, _ *expr.Frame) error {
	c.n[g]++
	return nil
}

func (c *rowCounts) value(g int) (value.Value, error) { return value.Int(c.n[g]), nil }

// sums is sum.
type sums struct {
	of *source
	at []sum
}

// sum is the sum of the numbers of one group. Ints are summed exactly, so that
// whether they go beyond 64 bits does not hang on their order.
type sum struct {
	low    uint64 // of the ints, with high as one number of 128 bits
	high   int64
	floats float64
	ints   int64 // how many
	others int64 // how many floats
}

func (s *sums) grow() { s.at = append(s.at, sum{}) }

func (s *sums) add(g int, f *expr.Frame) error {
	v, err := s.of.value(f)
	if err != nil {
		return err
	}
	at := &s.at[g]
	switch v.Kind() {
	case value.KindInt:
		at.addInt(v.AsInt())
	case value.KindFloat:
		at.floats += v.AsFloat()
		at.others++
	case value.KindNull:
	default:
		return fault.New(fault.Type, "sum and avg take numbers, not a %s", v.Kind())
	}
	return nil
}

func (s *sum) addInt(i int64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, uint64(i), 0)
	s.high += i>>63 + int64(carry)
	s.ints++
}

// float returns the sum as a float.
func (s *sum) float() (float64, error) {
	total := s.floats
	if s.ints > 0 {
		total += s.intsFloat()
	}
	if math.IsInf(total, 0) || math.IsNaN(total) {
		return 0, fault.New(fault.Query, "a sum is not a finite number")
	}
	return total, nil
}

// intsFloat returns the sum of the ints as a float.
func (s *sum) intsFloat() float64 {
	if s.fits() {
		return float64(int64(s.low))
	}
	return float64(s.high)*0x1p64 + float64(s.low)
}

// fits reports whether the sum of the ints is one of 64 bits.
func (s *sum) fits() bool { return s.high == int64(s.low)>>63 }

func (s *sums) value(g int) (value.Value, error) {
	at := &s.at[g]
	switch {
	case at.ints+at.others == 0:
		return value.Null, nil
	case at.others > 0:
		total, err := at.float()
		return value.Float(total), err
	case !at.fits():
		return value.Null, fault.New(fault.Query, "a sum is beyond 64 bits")
	}
	return value.Int(int64(at.low)), nil
}

// averages is avg.
type averages struct{ sums }

func (a *averages) value(g int) (value.Value, error) {
	at := &a.at[g]
	n := at.ints + at.others
	if n == 0 {
		return value.Null, nil
	}
	total, err := at.float()
	return value.Float(total / float64(n)), err
}
