package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// HNSWOptions are the options of an index of kind HNSW, a graph over vectors.
// Those that its declaration left out have their defaults.
type HNSWOptions struct {
	Metric         vector.Metric
	M              int // links of a vector on the layers above the lowest, 2 to 256
	EFConstruction int // candidates kept while a vector is linked, 8 to 65,536
	EFSearch       int // candidates kept by a search that does not say how many, 1 to 65,536
	Quant          Quant
}

// Quant is how the vectors are shortened that candidates are chosen by.
type Quant string

// The ways to shorten vectors.
const (
	NoQuant   Quant = ""     // not at all
	QuantInt8 Quant = "int8" // a byte a component
	QuantBit  Quant = "bit"  // a bit a component; with vector.Cosine only
)

// What the options of a declaration are that it leaves out.
const (
	defaultM              = 16
	defaultEFConstruction = 200
	defaultEFSearch       = 100
	defaultEFSearchBit    = 200 // with QuantBit
)

// The limits keep one vector's links within a few kilobytes, and the candidates
// of one search within a few megabytes.
const (
	maxM  = 256
	maxEF = 1 << 16
)

// defineHNSW returns the options that d declares.
func defineHNSW(d *ql.HNSWDef) (*HNSWOptions, error) {
	m, construction := cmp.Or(d.M, defaultM), cmp.Or(d.EFConstruction, defaultEFConstruction)
	search := cmp.Or(d.EFSearch, defaultEFSearch)
	if d.EFSearch == 0 && Quant(d.Quant) == QuantBit {
		search = defaultEFSearchBit
	}
	if err := checkGraph(m, construction, search); err != nil {
		return nil, err
	}
	metric, ok := vector.ParseMetric(d.Metric)
	if !ok {
		return nil, fault.New(fault.Query, "@hnsw measures by cosine, l2 or dot, not by %.80q", d.Metric)
	}
	o := &HNSWOptions{Metric: metric, M: int(m), EFConstruction: int(construction), EFSearch: int(search), Quant: Quant(d.Quant)}
	return o, o.check()
}

func (o *HNSWOptions) check() error {
	if err := checkGraph(int64(o.M), int64(o.EFConstruction), int64(o.EFSearch)); err != nil {
		return err
	}
	switch {
	case !slices.Contains(quants[:], o.Quant):
		return fault.New(fault.Query, "@hnsw takes quant=int8, bit or none, got %.80q", string(o.Quant))
	case o.Quant == QuantBit && o.Metric != vector.Cosine:
		return fault.New(fault.Query, "@hnsw takes quant=bit with cosine, not with %s", o.Metric)
	}
	return nil
}

func checkGraph(m, construction, search int64) error {
	return HNSW.checkWhole(
		whole{"m", m, 2, maxM},
		whole{"ef_construction", construction, 8, maxEF},
		whole{"ef_search", search, 1, maxEF})
}

// String returns the index as a declaration spells it, without the "@": the
// metric, M and EFSearch in any case, the others where they are not the defaults.
func (o *HNSWOptions) String() string {
	s := fmt.Appendf(nil, "hnsw(%s, m=%d, ef_search=%d", o.Metric, o.M, o.EFSearch)
	if o.EFConstruction != defaultEFConstruction {
		s = fmt.Appendf(s, ", ef_construction=%d", o.EFConstruction)
	}
	if o.Quant != NoQuant {
		s = fmt.Appendf(s, ", quant=%s", o.Quant)
	}
	return string(append(s, ')'))
}
