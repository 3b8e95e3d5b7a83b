package exec

import (
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// extremes is max, with sign 1, and min, with -1.
type extremes struct {
	of   *source
	sign int
	best []value.Value // null while there was none
}

func (x *extremes) grow() { x.best = append(x.best, value.Null) }

func (x *extremes) add(g int, f *expr.Frame) error {
	v, err := x.of.value(f)
	if err != nil {
		return err
	}
	switch v.Kind() {
	case value.KindBool, value.KindInt, value.KindFloat, value.KindTimestamp, value.KindText:
	case value.KindNull:
		return nil
	default:
		return fault.New(fault.Type, "min and max do not take a %s", v.Kind())
	}
	best := &x.best[g]
	if best.IsNull() || value.CompareCollated(v, *best, x.of.collate)*x.sign > 0 {
		*best = value.Clone(v)
	}
	return nil
}

func (x *extremes) value(g int) (value.Value, error) { return x.best[g], nil }

// ends is first and last. Rows come by ascending id.
type ends struct {
	of, by *source // by is nil for the order of ids
	last   bool
	at     []end
}

// end is the value that is first or last so far, and what it stands there by.
type end struct{ v, by value.Value }

func newEnds(a *aggregate) *ends { return &ends{of: a.arg, by: a.by, last: a.name == "last"} }

func (x *ends) grow() { x.at = append(x.at, end{}) }

func (x *ends) add(g int, f *expr.Frame) error {
	at := &x.at[g]
	if x.by == nil && !x.last && !at.v.IsNull() {
		return nil
	}
	by, ok, err := x.further(at, f)
	if !ok || err != nil {
		return err
	}
	v, err := x.of.value(f)
	if v.IsNull() || err != nil {
		return err
	}
	*at = end{value.Clone(v), value.Clone(by)}
	return nil
}

// further returns the key of f's row, and whether the row goes beyond at.
func (x *ends) further(at *end, f *expr.Frame) (by value.Value, ok bool, err error) {
	if x.by == nil {
		return value.Null, true, nil
	}
	by, err = x.by.value(f)
	if by.IsNull() || err != nil {
		return by, false, err
	}
	if at.v.IsNull() {
		return by, true, nil
	}
	sign := value.CompareCollated(by, at.by, x.by.collate)
	return by, sign < 0 && !x.last || sign >= 0 && x.last, nil
}

func (x *ends) value(g int) (value.Value, error) { return x.at[g].v, nil }
