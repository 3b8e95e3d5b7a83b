package catalog

import (
	"slices"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Index is the index of a field, or of a path into a json field. It must not be
// changed: definitions share it.
type Index struct {
	Kind   IndexKind
	Space  uint32        // where its entries are
	Field  int           // the field's place in Fields
	Keys   []string      // the path below a json field; nil for the field itself
	Period time.Duration // of a TTL, in whole milliseconds: how long a row lives
	Text   *TextOptions  // of a Text, else nil
	HNSW   *HNSWOptions  // of an HNSW, else nil
}

// IndexKind is a kind of index. Up to Geo all kinds have the same entries,
// ordered by value and then id; they differ in what is promised and what is
// allowed. The others are for search, and each has entries of its own.
type IndexKind uint8

// The kinds of indexes. Their numbers are part of stored files.
const (
	Hash     IndexKind = iota + 1 // finds equal values
	Unique                        // finds equal values and allows none but nulls
	Sorted                        // walks values in order
	TTL                           // walks times in order; rows whose time is past are gone
	Geo                           // walks points in order of the cell they lie in
	Text                          // finds texts by their words, the best match first
	HNSW                          // finds vectors near another one
	Inverted                      // finds sparse vectors near another one
)

var indexNames = [...]string{
	Hash: "hash", Unique: "unique", Sorted: "sorted", TTL: "ttl", Geo: "geo",
	Text: "text", HNSW: "hnsw", Inverted: "inverted",
}

// String returns the kind's word, without the "@".
func (k IndexKind) String() string {
	if k.known() {
		return indexNames[k]
	}
	return "?"
}

func (k IndexKind) known() bool { return k >= Hash && k <= Inverted }

// Search reports whether indexes of kind k are search indexes, whose spaces are
// from SearchSpaces on.
func (k IndexKind) Search() bool { return k == Text || k == HNSW || k == Inverted }

// ordered reports whether "alter … alter" may turn an index of kind k into
// another one.
func (k IndexKind) ordered() bool { return k == Sorted || k == TTL }

// maxPeriod is the longest life of a row.
const maxPeriod = 100 * 365 * 24 * time.Hour

// MaxKeys is the most keys of a path below a field.
const MaxKeys = 64

// String returns the index as a declaration spells it, without the "@".
func (x *Index) String() string {
	switch x.Kind {
	case TTL:
		return "ttl(" + PeriodString(x.Period) + ")"
	case Text:
		return x.Text.String()
	case HNSW:
		return x.HNSW.String()
	}
	return x.Kind.String()
}

// periodUnits are the units of a period, the longest first.
var periodUnits = []struct {
	name string
	unit time.Duration
}{
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// PeriodString returns p in the longest unit that it is a whole number of.
func PeriodString(p time.Duration) string {
	for _, u := range periodUnits {
		if p%u.unit == 0 {
			return strconv.FormatInt(int64(p/u.unit), 10) + u.name
		}
	}
	return p.String()
}

// check returns why x cannot be an index of f, which has its place. The kind
// comes first, then the options, then the type.
func (x *Index) check(f *Field) error {
	if !x.Kind.known() {
		return fault.New(fault.Query, "an index needs a kind")
	}
	if err := x.checkOptions(); err != nil {
		return err
	}
	if x.Keys == nil {
		return x.Kind.allows(f.Type)
	}
	return x.checkPath(f)
}

func (x *Index) checkPath(f *Field) error {
	switch {
	case len(x.Keys) == 0 || len(x.Keys) > MaxKeys:
		return fault.New(fault.Query, "a path has 1 to %d keys", MaxKeys)
	case x.Kind != Hash && x.Kind != Unique && x.Kind != Sorted:
		return fault.New(fault.Query, "@%s cannot be put on a path", x.Kind)
	case !f.Type.Is(value.BaseJSON):
		return fault.New(fault.Type, "a path leads into json, not into %s", f.Type)
	}
	return nil
}

// allows returns why a field of type t cannot have an index of kind k.
func (k IndexKind) allows(t value.Type) error {
	switch k {
	case Sorted:
		return wantBase("@sorted is for int, float, timestamp and text", t,
			value.BaseInt, value.BaseFloat, value.BaseTimestamp, value.BaseText)
	case TTL:
		return wantBase("@ttl is for timestamp", t, value.BaseTimestamp)
	case Geo:
		return wantBase("@geo is for geo", t, value.BaseGeo)
	case Text:
		return wantBase("@text is for text", t, value.BaseText)
	case HNSW:
		return wantBase("@hnsw is for vector", t, value.BaseVector)
	case Inverted:
		return wantBase("@inverted is for sparse", t, value.BaseSparse)
	}
	if t.Is(value.BaseGeo) {
		return fault.New(fault.Type, "@geo is the only index for %s, not @%s", t, k)
	}
	return nil
}

// wantBase returns a fault.Type that begins with rule unless t is one of bases.
func wantBase(rule string, t value.Type, bases ...value.Base) error {
	if slices.ContainsFunc(bases, t.Is) {
		return nil
	}
	return fault.New(fault.Type, "%s, not for %s", rule, t)
}
