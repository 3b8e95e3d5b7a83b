package catalog

import (
	"math"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// defineIndex returns the index of a field of type t that def declares, without
// its place and space. Options come before the type in what is refused.
func defineIndex(def *ql.IndexDef, t value.Type) (*Index, error) {
	if err := checkOptions(def); err != nil {
		return nil, err
	}
	switch def.Kind {
	case ql.IndexText:
		return unavailable(def.Kind, wantBase("@text is for text", t, value.BaseText))
	case ql.IndexHNSW:
		return unavailable(def.Kind, wantBase("@hnsw is for vector", t, value.BaseVector))
	case ql.IndexInverted:
		return unavailable(def.Kind, wantBase("@inverted is for sparse", t, value.BaseSparse))
	}
	x := newIndex(def)
	return x, x.Kind.allows(t)
}

// definePathIndex returns the index that def declares on the path that keys are
// below a field, without its space.
func definePathIndex(def *ql.IndexDef, field int, keys []string) (*Index, error) {
	if err := checkOptions(def); err != nil {
		return nil, err
	}
	switch def.Kind {
	case ql.IndexText, ql.IndexHNSW, ql.IndexInverted:
		return nil, noPathIndex(def.Kind.String())
	}
	x := newIndex(def)
	x.Field, x.Keys = field, keys
	return x, nil
}

// unavailable refuses the kinds of indexes that the language has and this
// release does not, once everything else about them is right.
func unavailable(kind ql.IndexKind, err error) (*Index, error) {
	if err != nil {
		return nil, err
	}
	return nil, fault.New(fault.Query, "@%s indexes are not available in this release", kind)
}

var indexKinds = map[ql.IndexKind]IndexKind{
	ql.IndexHash:   Hash,
	ql.IndexUnique: Unique,
	ql.IndexSorted: Sorted,
	ql.IndexTTL:    TTL,
	ql.IndexGeo:    Geo,
}

// newIndex returns the index that def declares, whose options are checked.
func newIndex(def *ql.IndexDef) *Index {
	x := &Index{Kind: indexKinds[def.Kind]}
	if def.TTL != nil {
		unit, _ := periodUnit(def.TTL.Unit)
		x.Period = time.Duration(def.TTL.N) * unit
	}
	return x
}

// checkOptions returns which option of an index has a value that it cannot.
func checkOptions(def *ql.IndexDef) error {
	switch def.Kind {
	case ql.IndexTTL:
		return checkPeriod(def.TTL)
	case ql.IndexHNSW:
		return checkHNSW(def.HNSW)
	case ql.IndexText:
		return checkText(def.Text)
	}
	return nil
}

func checkPeriod(d *ql.Duration) error {
	unit, ok := periodUnit(d.Unit)
	if !ok || d.N < 1 || d.N > int64(maxPeriod/unit) {
		return fault.New(fault.Query, "@ttl(%d%.80s): a period is from 1ms to %s", d.N, d.Unit, periodString(maxPeriod))
	}
	return nil
}

func periodUnit(name string) (unit time.Duration, ok bool) {
	for _, u := range periodUnits {
		if strings.EqualFold(u.name, name) {
			return u.unit, true
		}
	}
	return 0, false
}

// checkHNSW checks the options of a graph over vectors. Those that are 0 were
// not written.
func checkHNSW(d *ql.HNSWDef) error {
	for _, o := range [...]struct {
		name        string
		value, from int64
	}{{"m", d.M, 2}, {"ef_construction", d.EFConstruction, 8}, {"ef_search", d.EFSearch, 1}} {
		if o.value != 0 && o.value < o.from {
			return fault.New(fault.Query, "@hnsw takes %s from %d, got %d", o.name, o.from, o.value)
		}
	}
	if d.Quant == "bit" && d.Metric != "cosine" {
		return fault.New(fault.Query, "@hnsw takes quant=bit with cosine, not with %s", d.Metric)
	}
	return nil
}

// checkText checks the options of a full-text index. Those that are nil were
// not written.
func checkText(d *ql.TextDef) error {
	for _, o := range [...]struct {
		name  string
		value *float64
	}{{"k1", d.K1}, {"b", d.B}} {
		if o.value != nil && (*o.value < 0 || *o.value > 100 || math.IsNaN(*o.value)) {
			return fault.New(fault.Query, "@text takes %s from 0 to 100, got %v", o.name, *o.value)
		}
	}
	for _, o := range [...]struct {
		name  string
		value *int64
		from  int64
	}{{"prefix", d.Prefix, 0}, {"prefix_min", d.PrefixMin, 1}} {
		if o.value != nil && (*o.value < o.from || *o.value > 64) {
			return fault.New(fault.Query, "@text takes %s from %d to 64, got %d", o.name, o.from, *o.value)
		}
	}
	return nil
}
