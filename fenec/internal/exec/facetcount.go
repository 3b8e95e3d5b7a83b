package exec

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// maxFacet is the most values that a facet counts without top.
const maxFacet = 10_000

// FacetCounts is what was counted of one facet.
type FacetCounts struct {
	Name   string // of the field, or the path
	Counts []FacetCount
}

// FacetCount is how many rows have a value: one of the field, or a range, which
// is a list of its bounds of which the second is outside of it.
type FacetCount struct {
	Value value.Value
	Count int64
}

// facetCounter counts one facet.
type facetCounter interface {
	// add counts the row that f stands at.
	add(f *expr.Frame) error

	counts() []FacetCount
}

func (x *facet) counter() facetCounter {
	if x.bounds != nil {
		n := len(x.bounds) - 1
		return &rangeCounter{of: x, n: make([]int64, n), rows: make([]int64, n)}
	}
	return &valueCounter{of: x, forms: newForms()}
}

// valueCounter counts the rows of each value.
type valueCounter struct {
	of     *facet
	forms  *forms
	values []facetValue // by the numbers of their forms
	row    int64        // the number of the row being counted
	buf    []byte
}

type facetValue struct {
	v   value.Value
	n   int64
	row int64 // that was counted last
}

func (c *valueCounter) add(f *expr.Frame) error {
	c.row++
	src := c.of.of
	if !src.typ.IsList() && !src.untyped() {
		var err error
		if c.buf, _, err = src.appendForm(c.buf[:0], f); err != nil {
			return err
		}
		at, isNew := c.forms.number(c.buf)
		if !isNew {
			c.values[at].n++
			return nil
		}
		v, err := src.value(f)
		if err != nil {
			return err
		}
		return c.first(v)
	}
	v, err := src.value(f)
	if err != nil {
		return err
	}
	if v.Kind() != value.KindList {
		return c.count(v)
	}
	for _, e := range v.AsList() {
		if err := c.count(e); err != nil {
			return err
		}
	}
	return nil
}

// untyped reports whether values may be of any type.
func (s *source) untyped() bool { return s.typ == (value.Type{}) || s.typ.Is(value.BaseJSON) }

// count counts v, once a row.
func (c *valueCounter) count(v value.Value) error {
	c.buf = value.Append(c.buf[:0], oneZero(v))
	at, isNew := c.forms.number(c.buf)
	if isNew {
		return c.first(v)
	}
	if x := &c.values[at]; x.row != c.row {
		x.row = c.row
		x.n++
	}
	return nil
}

// first counts a value that is met for the first time.
func (c *valueCounter) first(v value.Value) error {
	if c.of.top == 0 && len(c.values) == maxFacet {
		return fault.New(fault.Query, "facet %s: more than %d values, top n answers the most frequent", c.of.name, maxFacet)
	}
	c.values = append(c.values, facetValue{value.Clone(v), 1, c.row})
	return nil
}

// counts returns the values, those of the most rows first.
func (c *valueCounter) counts() []FacetCount {
	slices.SortFunc(c.values, func(a, b facetValue) int {
		return cmp.Or(cmp.Compare(b.n, a.n), value.Compare(a.v, b.v), compareForms(a.v, b.v))
	})
	if top := c.of.top; top > 0 && top < int64(len(c.values)) {
		c.values = c.values[:top]
	}
	out := make([]FacetCount, len(c.values))
	for i := range c.values {
		out[i] = FacetCount{c.values[i].v, c.values[i].n}
	}
	return out
}

// rangeCounter counts the rows of each range.
type rangeCounter struct {
	of   *facet
	n    []int64 // rows, by range
	rows []int64 // the number of the one that was counted last, by range
	row  int64   // the number of the row being counted
}

func (c *rangeCounter) add(f *expr.Frame) error {
	c.row++
	v, err := c.of.of.value(f)
	if err != nil {
		return err
	}
	if v.Kind() != value.KindList {
		c.count(v)
		return nil
	}
	for _, e := range v.AsList() {
		c.count(e)
	}
	return nil
}

// count counts the range that holds v, once a row.
func (c *rangeCounter) count(v value.Value) {
	if !v.IsNumber() {
		return
	}
	bounds := c.of.bounds
	above := sort.Search(len(bounds), func(i int) bool { return value.Compare(bounds[i], v) > 0 })
	if above == 0 || above == len(bounds) || c.rows[above-1] == c.row {
		return
	}
	c.rows[above-1] = c.row
	c.n[above-1]++
}

// counts returns all ranges.
func (c *rangeCounter) counts() []FacetCount {
	out := make([]FacetCount, len(c.n))
	for i := range out {
		out[i] = FacetCount{value.List(c.of.bounds[i : i+2 : i+2]), c.n[i]}
	}
	return out
}

// appendFacets appends facets as an object of lists.
func appendFacets(dst []byte, facets []FacetCounts) []byte {
	dst = append(dst, '{')
	for i := range facets {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(value.AppendJSONString(dst, facets[i].Name), ':', '[')
		for j, c := range facets[i].Counts {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = value.AppendJSON(append(dst, `{"value":`...), c.Value)
			dst = strconv.AppendInt(append(dst, `,"count":`...), c.Count, 10)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
