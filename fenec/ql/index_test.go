package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestParseIndexes(t *testing.T) {
	num := func(f float64) *float64 { return &f }
	hnsw := func(x ql.HNSWDef) ql.IndexDef { return ql.IndexDef{Kind: ql.IndexHNSW, HNSW: &x} }
	search := func(x ql.TextDef) ql.IndexDef { return ql.IndexDef{Kind: ql.IndexText, Text: &x} }
	ttl := func(n int64, unit string) ql.IndexDef {
		return ql.IndexDef{Kind: ql.IndexTTL, TTL: &ql.Duration{N: n, Unit: unit}}
	}
	tests := []struct {
		text string
		want ql.IndexDef
	}{
		{`@hash`, ql.IndexDef{Kind: ql.IndexHash}},
		{`@UNIQUE`, ql.IndexDef{Kind: ql.IndexUnique}},
		{`@sorted`, ql.IndexDef{Kind: ql.IndexSorted}},
		{`@inverted`, ql.IndexDef{Kind: ql.IndexInverted}},
		{`@geo`, ql.IndexDef{Kind: ql.IndexGeo}},
		{`@ttl(1 ms)`, ttl(1, "ms")},
		{`@ttl(30D)`, ttl(30, "d")},
		{`@hnsw`, hnsw(ql.HNSWDef{Metric: "cosine"})},
		{`@hnsw()`, hnsw(ql.HNSWDef{Metric: "cosine"})},
		{`@vector(cos)`, hnsw(ql.HNSWDef{Metric: "cosine"})},
		{`@hnsw(euclidean, m=8, ef_c=64, ef=50, quant=i8,)`,
			hnsw(ql.HNSWDef{Metric: "l2", M: 8, EFConstruction: 64, EFSearch: 50, Quant: "int8"})},
		{`@hnsw(ef_search = 5, ef_construction = 9, ip, quant = binary)`,
			hnsw(ql.HNSWDef{Metric: "dot", EFConstruction: 9, EFSearch: 5, Quant: "bit"})},
		{`@hnsw(quant=bit, quant=none)`, hnsw(ql.HNSWDef{Metric: "cosine"})},
		{`@text`, search(ql.TextDef{})},
		{`@bm25()`, search(ql.TextDef{})},
		{`@text(k1=1.2, b=1, prefix=6, prefix_min=2, chars,)`,
			search(ql.TextDef{K1: num(1.2), B: num(1), Prefix: number(6), PrefixMin: number(2), Chars: true})},
		{`@text(prefix_max=0, b=0)`, search(ql.TextDef{B: num(0), Prefix: number(0)})},
	}
	for _, tt := range tests {
		s := parse(t, "create index on t (a.b) "+tt.text)
		require.Equal(t, &ql.CreateIndex{On: name("t"), Path: ql.Path{Field: "a", Keys: []string{"b"}}, Index: tt.want}, s, tt.text)
		requireSamePrinted(t, s)
	}
}

func TestRefusedIndexes(t *testing.T) {
	for _, text := range []string{
		``, `hash`, `@`, `@tree`, `@hash()`, `@sorted(1)`,
		`@ttl`, `@ttl()`, `@ttl(0s)`, `@ttl(-1s)`, `@ttl(1y)`, `@ttl(1)`, `@ttl($1)`, `@ttl(1.5h)`, `@ttl(1h`, `@ttl(1h, 2h)`,
		`@hnsw(`, `@hnsw(cosine`, `@hnsw(hamming)`, `@hnsw(m)`, `@hnsw(m=0)`, `@hnsw(m=-1)`, `@hnsw(m=$1)`, `@hnsw(m 8)`, `@hnsw(m=8 ef=1)`,
		`@hnsw(ef=0)`, `@hnsw(ef_c=1.5)`, `@hnsw(quant=int4)`, `@hnsw(quant)`, `@hnsw(k1=1)`, `@hnsw(,)`,
		`@text(k1)`, `@text(k1=-1)`, `@text(k1=$1)`, `@text(k1="1")`, `@text(k1=1e999)`, `@text(prefix=1.5)`, `@text(prefix=-1)`,
		`@text(chars=1)`, `@text(m=8)`, `@text(k1=1`, `@hash @unique`,
	} {
		_, err := ql.Parse("create index on t (a) " + text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
	}
	for _, text := range []string{
		`create index t (a) @hash`, `create index on t a @hash`, `create index on t () @hash`, `create index on t (a, b) @hash`,
		`create index on t.u (a) @hash`, `create index if exists on t (a) @hash`, `create index on t (a @hash)`,
		`drop index on t (a)`,
	} {
		_, err := ql.Parse(text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
	}
}
