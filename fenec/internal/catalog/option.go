package catalog

import (
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// defineIndex returns the index of a field of type t that def declares, without
// its place and space. Options come before the type in what is refused.
func defineIndex(def *ql.IndexDef, t value.Type) (*Index, error) {
	x, err := newIndex(def)
	if err != nil {
		return nil, err
	}
	return x, x.Kind.allows(t)
}

// definePathIndex returns the index that def declares on the path that keys are
// below a field, without its space.
func definePathIndex(def *ql.IndexDef, field int, keys []string) (*Index, error) {
	x, err := newIndex(def)
	if err != nil {
		return nil, err
	}
	x.Field, x.Keys = field, keys
	return x, nil
}

var indexKinds = map[ql.IndexKind]IndexKind{
	ql.IndexHash:     Hash,
	ql.IndexUnique:   Unique,
	ql.IndexSorted:   Sorted,
	ql.IndexTTL:      TTL,
	ql.IndexGeo:      Geo,
	ql.IndexText:     Text,
	ql.IndexHNSW:     HNSW,
	ql.IndexInverted: Inverted,
}

// newIndex returns the index that def declares, with all its options, on nothing
// yet.
func newIndex(def *ql.IndexDef) (x *Index, err error) {
	x = &Index{Kind: indexKinds[def.Kind]}
	switch x.Kind {
	case TTL:
		x.Period, err = definePeriod(def.TTL)
	case Text:
		x.Text, err = defineText(def.Text)
	case HNSW:
		x.HNSW, err = defineHNSW(def.HNSW)
	}
	return x, err
}

func definePeriod(d *ql.Duration) (time.Duration, error) {
	unit, ok := periodUnit(d.Unit)
	if !ok || d.N < 1 || d.N > int64(maxPeriod/unit) {
		return 0, fault.New(fault.Query, "@ttl(%d%.80s): a period is from 1ms to %s", d.N, d.Unit, PeriodString(maxPeriod))
	}
	return time.Duration(d.N) * unit, nil
}

func periodUnit(name string) (unit time.Duration, ok bool) {
	for _, u := range periodUnits {
		if strings.EqualFold(u.name, name) {
			return u.unit, true
		}
	}
	return 0, false
}

// checkOptions returns why x, whose kind is known, cannot have its options.
func (x *Index) checkOptions() error {
	switch {
	case (x.Kind == TTL) != (x.Period != 0):
		return fault.New(fault.Query, "@%s and a period do not belong together", x.Kind)
	case (x.Kind == Text) != (x.Text != nil), (x.Kind == HNSW) != (x.HNSW != nil):
		return fault.New(fault.Query, "@%s lacks its options or has those of another kind", x.Kind)
	}
	switch x.Kind {
	case TTL:
		return checkPeriod(x.Period)
	case Text:
		return x.Text.check()
	case HNSW:
		return x.HNSW.check()
	}
	return nil
}

func checkPeriod(p time.Duration) error {
	if p < time.Millisecond || p > maxPeriod || p%time.Millisecond != 0 {
		return fault.New(fault.Query, "@ttl takes a period from 1ms to %s", PeriodString(maxPeriod))
	}
	return nil
}

// whole is an option that is a whole number, and what it may be.
type whole struct {
	name            string
	value, from, to int64
}

func (k IndexKind) checkWhole(options ...whole) error {
	for _, o := range options {
		if o.value < o.from || o.value > o.to {
			return fault.New(fault.Query, "@%s takes %s from %d to %d, got %d", k, o.name, o.from, o.to, o.value)
		}
	}
	return nil
}
