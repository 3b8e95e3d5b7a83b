package ql_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// A grower makes random trees of the kind that the parser makes.
type grower struct {
	*rand.Rand
	aggregates bool // aggregates may stand in expressions
	inner      int  // gets inside "in" around
}

// words are names, most of them keywords somewhere.
var words = strings.Fields(`a b item x1 _ ışık 東京 Not case CASE when then else end and or in is has null true FALSE
	not from From select get where order by asc desc limit offset count as into set if exists required
	put del compact collections describe create drop explain update bucket e5 f16
	near match rerank fuse group having require required facet lookup on returning top ranges disjunctive
	k ef exact candidates highlight snippet distinct collate und tr add field rename to alter index absent new
	int text hash ttl m`)

// pick returns one of the items.
func pick[T any](g grower, items ...T) T { return items[g.IntN(len(items))] }

// maybe reports true once in n times.
func (g grower) maybe(n int) bool { return g.IntN(n) == 0 }

func (g grower) word() string { return pick(g, words...) }

func (g grower) name() ql.Name { return ql.Name{Text: g.word()} }

// several returns up to n items, nil for none.
func several[T any](g grower, n int, item func() T) []T {
	var list []T
	for range g.IntN(n + 1) {
		list = append(list, item())
	}
	return list
}

func (g grower) statement() ql.Statement {
	switch g.IntN(12) {
	case 0:
		return &ql.CreateCollection{IfNotExists: g.maybe(2), Name: g.name(),
			Fields: append(several(g, 3, g.fieldDef), g.fieldDef())}
	case 1:
		return pick[ql.Statement](g, &ql.DropCollection{IfExists: g.maybe(2), Name: g.name()},
			&ql.CreateIndex{IfNotExists: g.maybe(2), On: g.name(), Path: g.path(), Index: *g.index()})
	case 2:
		return g.put()
	case 3:
		return &ql.Set{Name: g.name(), Pairs: g.document(), Where: g.where(), Order: g.order(), Limit: g.number(),
			Returning: g.returning(), Require: g.number()}
	case 4:
		return &ql.Del{From: g.name(), Where: g.where(), Order: g.order(), Limit: g.number(),
			Returning: g.returning(), Require: g.number()}
	case 5:
		return pick[ql.Statement](g, &ql.Collections{}, &ql.Describe{Name: g.name()},
			&ql.Compact{}, &ql.Compact{Name: g.name()})
	case 6:
		return &ql.Explain{Get: g.get()}
	case 7:
		return g.alter()
	}
	return g.get()
}

func (g grower) put() *ql.Put {
	s := &ql.Put{Insert: g.maybe(2), Into: g.name(), IfAbsent: g.maybe(2), Require: g.number()}
	if g.maybe(4) {
		s.Param = &ql.Param{N: 1 + g.IntN(9)}
	} else {
		s.Docs = append(several(g, 2, g.document), g.document())
	}
	if s.IfAbsent && g.maybe(2) {
		s.HasElse, s.ElseSet = true, g.document()
	}
	return s
}

func (g grower) alter() *ql.AlterCollection {
	s := &ql.AlterCollection{Name: g.name(), Kind: ql.AlterKind(1 + g.IntN(int(ql.AlterIndex)))}
	if s.Kind == ql.AlterAdd {
		f := g.fieldDef()
		s.Add = &f
		return s
	}
	s.Field = g.name()
	switch s.Kind {
	case ql.AlterRename:
		s.To = g.name()
	case ql.AlterIndex:
		s.Index = pick(g, &ql.IndexDef{Kind: ql.IndexSorted}, g.ttl())
	}
	return s
}

func (g grower) where() ql.Expr {
	if g.maybe(3) {
		return nil
	}
	return g.expr(6)
}

func (g grower) order() []ql.Key {
	return several(g, 2, func() ql.Key {
		k := ql.Key{Path: g.path(), Collate: g.collate(), Desc: g.maybe(2)}
		if g.aggregates && g.maybe(3) {
			path := g.field()
			k.Path, k.Call = ql.Path{}, pick(g, call("SUM", path), call("count"), call("last", path))
			if k.Call.Name == "count" {
				k.Call.Star = true
			}
		}
		return k
	})
}

func (g grower) number() *int64 {
	if g.maybe(2) {
		return nil
	}
	n := g.Int64()
	return &n
}

func (g grower) path() ql.Path {
	return ql.Path{Field: g.word(), Keys: several(g, 2, g.word)}
}

func (g grower) fieldDef() ql.FieldDef {
	f := ql.FieldDef{Name: g.name(), Type: g.typeDef(), Required: g.maybe(2), Collate: g.collate()}
	if g.maybe(2) {
		f.Index = g.index()
	}
	return f
}

func (g grower) collate() string { return pick(g, "", "", "", "und", "tr") }

func (g grower) index() *ql.IndexDef {
	x := &ql.IndexDef{Kind: ql.IndexKind(1 + g.IntN(int(ql.IndexText)))}
	switch x.Kind {
	case ql.IndexTTL:
		return g.ttl()
	case ql.IndexHNSW:
		x.HNSW = &ql.HNSWDef{Metric: pick(g, "cosine", "l2", "dot"), M: pick(g, 0, g.Int64()),
			EFConstruction: pick(g, 0, g.Int64()), EFSearch: pick(g, 0, g.Int64()), Quant: pick(g, "", "int8", "bit")}
	case ql.IndexText:
		x.Text = &ql.TextDef{Prefix: g.number(), PrefixMin: g.number(), Chars: g.maybe(2)}
		if g.maybe(2) {
			k1, b := g.Float64()*100, float64(g.IntN(100))
			x.Text.K1, x.Text.B = &k1, &b
		}
	}
	return x
}

func (g grower) ttl() *ql.IndexDef {
	period := &ql.Duration{N: 1 + g.Int64N(math.MaxInt64), Unit: pick(g, "ms", "s", "m", "h", "d")}
	return &ql.IndexDef{Kind: ql.IndexTTL, TTL: period}
}

func (g grower) typeDef() ql.TypeDef {
	t := ql.TypeDef{Kind: ql.TypeKind(1 + g.IntN(int(ql.TypeGeo)))}
	switch t.Kind {
	case ql.TypeList:
		elem := g.typeDef()
		t.Elem = &elem
	case ql.TypeVector:
		t.Dim, t.Half = g.Int64(), g.maybe(2)
	case ql.TypeSparse:
		t.Dim = g.Int64()
	}
	return t
}

func (g grower) document() ql.Document {
	return several(g, 3, func() ql.Pair {
		p := ql.Pair{Path: g.path(), Value: g.expr(3)}
		if g.maybe(4) {
			p.Path = ql.Path{Field: g.text()}
		}
		return p
	})
}

// text returns a text of awkward characters.
func (g grower) text() string {
	return strings.Join(several(g, 6, func() string {
		return pick(g, `"`, `'`, `\`, "\n", "\r", "\t", "\x00", "\x7f", "a", "9", ".", ";", "--", "#", "$1", "é", "東", "😀", "\u2028")
	}), "")
}

func (g grower) literal() ql.Expr {
	switch g.IntN(6) {
	case 0:
		return null()
	case 1:
		return boolean(g.maybe(2))
	case 2:
		return integer(pick(g, 0, 1, -1, int64(g.Uint64()), math.MaxInt64, math.MinInt64))
	case 3:
		return decimal(g.float())
	}
	return text(g.text())
}

func (g grower) float() float64 {
	f := pick(g, 0, math.Copysign(0, -1), 1, -1.5, 1e6, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64,
		g.NormFloat64(), math.Float64frombits(g.Uint64()))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0.1
	}
	return f
}

func (g grower) constant(depth int) ql.Expr {
	inner := func() ql.Expr { return g.constant(depth - 1) }
	switch {
	case depth == 0 || g.maybe(2):
		return g.literal()
	case g.maybe(2):
		return &ql.List{Items: several(g, 3, inner)}
	}
	o := &ql.Object{}
	keys := map[string]bool{}
	for range g.IntN(4) {
		key := pick(g, g.word(), g.word()+"."+g.word(), g.text())
		if !keys[key] {
			keys[key] = true
			o.Members = append(o.Members, ql.Member{Key: key, Value: inner()})
		}
	}
	return o
}

// leaf returns an expression without parts.
func (g grower) leaf() ql.Expr {
	switch g.IntN(4) {
	case 0:
		return g.constant(3)
	case 1:
		return &ql.Param{N: 1 + g.IntN(20)}
	}
	return g.field()
}

// field returns a path that stands for a value.
func (g grower) field() *ql.Path {
	p := g.path()
	if len(p.Keys) == 0 && slices.Contains([]string{"null", "true", "false"}, strings.ToLower(p.Field)) {
		return field("a")
	}
	return &p
}

func (g grower) expr(depth int) ql.Expr {
	if depth == 0 {
		return g.leaf()
	}
	inner := func() ql.Expr { return g.expr(depth - 1) }
	switch g.IntN(10) {
	case 0:
		return pick(g, neg, not)(inner())
	case 1:
		if g.inner < 4 && g.maybe(3) {
			return &ql.In{X: inner(), Get: g.innerGet()}
		}
		return &ql.In{X: inner(), List: several(g, 3, inner)}
	case 2:
		return &ql.IsNull{X: inner(), Not: g.maybe(2)}
	case 3:
		c := &ql.Case{}
		for range 1 + g.IntN(3) {
			c.Whens = append(c.Whens, ql.When{Cond: inner(), Then: inner()})
		}
		if g.maybe(2) {
			c.Else = inner()
		}
		return c
	case 4:
		return call(pick(g, "lower", "now", "distinct", "case", "From", "by"), several(g, 3, inner)...)
	case 5:
		unit := pick(g, "m", "mo", "e5", "E", "_x", "when", "ü")
		return call("Bucket", inner(), &ql.Duration{N: g.Int64(), Unit: unit})
	case 6, 7:
		return op(inner(), pick(g, ql.OpOr, ql.OpAnd, ql.OpEq, ql.OpNe, ql.OpLt, ql.OpLe, ql.OpGt, ql.OpGe,
			ql.OpContains, ql.OpHas, ql.OpAdd, ql.OpSub, ql.OpMul, ql.OpDiv), inner())
	case 8:
		if g.aggregates {
			return g.aggregate(depth - 1)
		}
	}
	return g.leaf()
}
