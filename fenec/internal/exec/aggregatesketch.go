package exec

import (
	"unsafe"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/hll"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// sketches is approx_count_distinct, hll_accumulate and hll_combine.
type sketches struct {
	of       *source
	combine  bool // values are sketches themselves
	estimate bool // what is answered is an estimate, not the sketch
	held     *held
	at       []*hll.Sketch // nil while there was no value
}

func newSketches(a *aggregate, held *held) *sketches {
	return &sketches{
		of:       a.arg,
		combine:  a.name == "hll_combine",
		estimate: a.name == "approx_count_distinct",
		held:     held,
	}
}

func (x *sketches) grow() { x.at = append(x.at, nil) }

func (x *sketches) add(g int, f *expr.Frame) error {
	v, err := x.of.value(f)
	if v.IsNull() || err != nil {
		return err
	}
	s := x.at[g]
	if s == nil {
		s = new(hll.Sketch)
		x.at[g] = s
		x.held.sketches += int(unsafe.Sizeof(*s))
	}
	before := s.MemoryBytes()
	if x.combine {
		err = combine(s, v)
	} else {
		s.AddValue(v)
	}
	if x.held.sketches += s.MemoryBytes() - before; x.held.sketches > maxSketchBytes {
		return fault.New(fault.Query, "sketches of distinct values take more than %d MB", maxSketchBytes>>20)
	}
	return err
}

// combine merges the sketch that v holds into s.
func combine(s *hll.Sketch, v value.Value) error {
	if v.Kind() != value.KindBytes {
		return fault.New(fault.Type, "hll_combine takes bytes, not a %s", v.Kind())
	}
	other, err := hll.Decode(v.AsBytes())
	if err != nil {
		return err
	}
	s.Merge(other)
	return nil
}

func (x *sketches) value(g int) (value.Value, error) {
	s := x.at[g]
	switch {
	case s == nil && x.estimate:
		return value.Int(0), nil
	case s == nil:
		return value.Null, nil
	case x.estimate:
		return value.Int(s.Estimate()), nil
	}
	return value.Bytes(s.Append(nil)), nil
}
