package descr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// index reads the member "index" of a field or a path, nil if there is none.
func (r *reader) index(of object) *ql.IndexDef {
	v := of.get("index")
	if v.IsNull() {
		return nil
	}
	x := &ql.IndexDef{Kind: r.indexKind(of, v)}
	o := r.object(of.at+".index", v, append(optionsOf[x.Kind], "kind")...)
	switch x.Kind {
	case ql.IndexTTL:
		x.TTL = r.period(o)
	case ql.IndexHNSW:
		x.HNSW = r.hnsw(o)
	case ql.IndexText:
		x.Text = &ql.TextDef{
			K1: o.ratio("k1"), B: o.ratio("b"),
			Prefix: o.count("prefix"), PrefixMin: o.count("prefix_min"),
			Chars: o.flag("chars"),
		}
	}
	return x
}

// optionsOf are the keys that an index may have besides its kind.
var optionsOf = map[ql.IndexKind][]string{
	ql.IndexTTL:  {"ms"},
	ql.IndexText: {"k1", "b", "prefix", "prefix_min", "chars"},
	ql.IndexHNSW: {"metric", "m", "ef_construction", "ef_search", "quant"},
}

// indexKind reads the kind of an index, before it is known which keys it may have.
func (r *reader) indexKind(of object, v value.Value) ql.IndexKind {
	if v.Kind() != value.KindObject {
		of.wants("index", "an object")
		return 0
	}
	o := object{r, of.at + ".index", v}
	word := o.needed("kind")
	for k := ql.IndexHash; k <= ql.IndexText; k++ {
		if k.String() == word {
			return k
		}
	}
	o.wants("kind", "the kind of an index")
	return 0
}

func (r *reader) period(o object) *ql.Duration {
	ms, given := o.whole("ms", 1)
	if !given {
		o.wants("ms", "a number of milliseconds")
	}
	return &ql.Duration{N: ms, Unit: "ms"}
}

func (r *reader) hnsw(o object) *ql.HNSWDef {
	x := &ql.HNSWDef{Metric: "cosine"}
	if metric, given := o.text("metric"); given {
		x.Metric = metric
	}
	x.M, _ = o.whole("m", 1)
	x.EFConstruction, _ = o.whole("ef_construction", 1)
	x.EFSearch, _ = o.whole("ef_search", 1)
	if quant, _ := o.text("quant"); quant != "none" {
		x.Quant = quant
	}
	return x
}
