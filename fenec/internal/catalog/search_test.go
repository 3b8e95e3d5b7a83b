package catalog_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// searchIndexes are declarations of search indexes, what they define and how
// that is spelt.
var searchIndexes = map[string]struct {
	spelt string
	text  *catalog.TextOptions
	hnsw  *catalog.HNSWOptions
}{
	`text @text`:                 {spelt: "text(k1=0.9, b=0.4)", text: &catalog.TextOptions{K1: 0.9, B: 0.4, PrefixMin: 3}},
	`text @bm25(k1=1.2, b=0.75)`: {spelt: "text(k1=1.2, b=0.75)", text: &catalog.TextOptions{K1: 1.2, B: 0.75, PrefixMin: 3}},
	`text @text(k1=100, b=0)`:    {spelt: "text(k1=100, b=0)", text: &catalog.TextOptions{K1: 100, PrefixMin: 3}},
	`text @text(k1=1.2349, b=0.005)`: {
		spelt: "text(k1=1.23, b=0.01)", text: &catalog.TextOptions{K1: 1.23, B: 0.01, PrefixMin: 3}},
	`text @text(prefix=6)`: {
		spelt: "text(k1=0.9, b=0.4, prefix=6)", text: &catalog.TextOptions{K1: 0.9, B: 0.4, Prefix: 6, PrefixMin: 3}},
	`text @text(chars, prefix_min=1, prefix_max=64)`: {
		spelt: "text(k1=0.9, b=0.4, prefix=64, prefix_min=1, chars)",
		text:  &catalog.TextOptions{K1: 0.9, B: 0.4, Prefix: 64, PrefixMin: 1, Chars: true}},
	`vector<2> @hnsw`: {
		spelt: "hnsw(cosine, m=16, ef_search=100)", hnsw: &catalog.HNSWOptions{M: 16, EFConstruction: 200, EFSearch: 100}},
	`vector<2> @vector(euclidean, m=32, quant=i8)`: {
		spelt: "hnsw(l2, m=32, ef_search=100, quant=int8)",
		hnsw:  &catalog.HNSWOptions{Metric: vector.L2, M: 32, EFConstruction: 200, EFSearch: 100, Quant: catalog.QuantInt8}},
	`vector<2> @hnsw(quant=bit)`: {
		spelt: "hnsw(cosine, m=16, ef_search=200, quant=bit)",
		hnsw:  &catalog.HNSWOptions{M: 16, EFConstruction: 200, EFSearch: 200, Quant: catalog.QuantBit}},
	`vector<2> @hnsw(quant=bit, ef=100)`: {
		spelt: "hnsw(cosine, m=16, ef_search=100, quant=bit)",
		hnsw:  &catalog.HNSWOptions{M: 16, EFConstruction: 200, EFSearch: 100, Quant: catalog.QuantBit}},
	`vector<2> @hnsw(ip, m=256, ef_c=64, ef_search=65536)`: {
		spelt: "hnsw(dot, m=256, ef_search=65536, ef_construction=64)",
		hnsw:  &catalog.HNSWOptions{Metric: vector.Dot, M: 256, EFConstruction: 64, EFSearch: 65536}},
	`sparse<9> @inverted`: {spelt: "inverted"},
}

func TestSearchIndexes(t *testing.T) {
	for declared, want := range searchIndexes {
		cat, col := create(t, new(catalog.Catalog), `create collection c (n int @hash, x `+declared+`)`)
		x := col.Fields[1].Index
		require.True(t, x.Kind.Search(), declared)
		require.Equal(t, want.text, x.Text, declared)
		require.Equal(t, want.hnsw, x.HNSW, declared)
		require.Equal(t, x.Kind, catalog.KindOfSpace(x.Space), declared)
		require.EqualValues(t, 3, x.Space%(1<<29), declared)
		require.Equal(t, want.spelt, x.String(), declared)
		require.EqualValues(t, 4, cat.Next(), "the range is no part of the number")

		_, again := create(t, new(catalog.Catalog), `create collection c (n int @hash, x `+col.Fields[1].Type.String()+` @`+x.String()+`)`)
		require.Equal(t, col, again, "what is spelt declares the same")
	}
	for _, k := range []catalog.IndexKind{0, catalog.Hash, catalog.Unique, catalog.Sorted, catalog.TTL, catalog.Geo, catalog.Inverted + 1} {
		require.False(t, k.Search(), k)
	}
}

// What is wrong with an index is told by every statement that can declare it.
func TestSearchIndexesRefused(t *testing.T) {
	const longest = "9223372036854775807"
	for declared, want := range map[string]string{
		`int @text`:                                "type error: field \"x\": @text is for text, not for int",
		`[text] @text`:                             "type error: field \"x\": @text is for text, not for [text]",
		`geo @text`:                                "type error: field \"x\": @text is for text, not for geo",
		`text @hnsw`:                               "type error: field \"x\": @hnsw is for vector, not for text",
		`sparse<2> @hnsw`:                          "type error: field \"x\": @hnsw is for vector, not for sparse<2>",
		`[vector<2>] @hnsw`:                        "type error: field \"x\": @hnsw is for vector, not for [vector<2>]",
		`vector<2> @inverted`:                      "type error: field \"x\": @inverted is for sparse, not for vector<2>",
		`int @text(k1=101)`:                        "query error: field \"x\": @text takes k1 from 0 to 100, got 101",
		`text @text(k1=100.001)`:                   "query error: field \"x\": @text takes k1 from 0 to 100, got 100.001",
		`text @text(b=1e300)`:                      "query error: field \"x\": @text takes b from 0 to 100, got 1e+300",
		`text @text(prefix=65)`:                    "query error: field \"x\": @text takes prefix from 0 to 64, got 65",
		`text @text(prefix=` + longest + `)`:       "query error: field \"x\": @text takes prefix from 0 to 64, got " + longest,
		`text @text(prefix_min=0)`:                 "query error: field \"x\": @text takes prefix_min from 1 to 64, got 0",
		`text @text(prefix_min=65)`:                "query error: field \"x\": @text takes prefix_min from 1 to 64, got 65",
		`vector<2> @hnsw(m=1)`:                     "query error: field \"x\": @hnsw takes m from 2 to 256, got 1",
		`vector<2> @hnsw(m=257)`:                   "query error: field \"x\": @hnsw takes m from 2 to 256, got 257",
		`vector<2> @hnsw(m=4294967298)`:            "query error: field \"x\": @hnsw takes m from 2 to 256, got 4294967298",
		`vector<2> @hnsw(ef_construction=7)`:       "query error: field \"x\": @hnsw takes ef_construction from 8 to 65536, got 7",
		`vector<2> @hnsw(ef_construction=65537)`:   "query error: field \"x\": @hnsw takes ef_construction from 8 to 65536, got 65537",
		`vector<2> @hnsw(ef=` + longest + `)`:      "query error: field \"x\": @hnsw takes ef_search from 1 to 65536, got " + longest,
		`vector<2> @hnsw(l2, quant=bit)`:           "query error: field \"x\": @hnsw takes quant=bit with cosine, not with l2",
		`vector<2> @hnsw(quant=bit, ef=7, ip)`:     "query error: field \"x\": @hnsw takes quant=bit with cosine, not with dot",
		`vector<2> @hnsw(m=1, quant=bit, dot)`:     "query error: field \"x\": @hnsw takes m from 2 to 256, got 1",
		`text @hnsw(m=300)`:                        "query error: field \"x\": @hnsw takes m from 2 to 256, got 300",
		`text collate tr @text(prefix=6, b=100.1)`: "query error: field \"x\": @text takes b from 0 to 100, got 100.1",
	} {
		_, _, err := new(catalog.Catalog).Create(declare(t, `create collection c (x `+declared+`)`))
		require.EqualError(t, err, want, declared)

		c, _ := create(t, new(catalog.Catalog), `create collection c (y int)`)
		_, _, _, err = change(t, c, `alter collection c add x `+declared)
		require.EqualError(t, err, want, declared)

		field := declare(t, `create collection c (x `+declared+`)`).Fields[0]
		index := field.Index
		field.Index = nil
		c, _, err = new(catalog.Catalog).Create(&ql.CreateCollection{Name: ql.Name{Text: "c"}, Fields: []ql.FieldDef{field}})
		require.NoError(t, err)
		def := &ql.CreateIndex{On: ql.Name{Text: "c"}, Path: ql.Path{Field: "x"}, Index: *index}
		_, _, _, _, err = c.CreateIndex(def)
		require.EqualError(t, err, want, declared)
		_, _, _, _, err = c.BeginIndex(def)
		require.EqualError(t, err, want, declared)
	}
}

// Trees that were not parsed can hold what has no spelling.
func TestSearchOptionsWithoutSpelling(t *testing.T) {
	nan, negative, prefix := math.NaN(), -1.0, int64(-1)
	for want, index := range map[string]ql.IndexDef{
		`query error: field "x": @text takes k1 from 0 to 100, got NaN`:              {Kind: ql.IndexText, Text: &ql.TextDef{K1: &nan}},
		`query error: field "x": @text takes b from 0 to 100, got -1`:                {Kind: ql.IndexText, Text: &ql.TextDef{B: &negative}},
		`query error: field "x": @text takes prefix from 0 to 64, got -1`:            {Kind: ql.IndexText, Text: &ql.TextDef{Prefix: &prefix}},
		`query error: field "x": @hnsw takes m from 2 to 256, got -1`:                {Kind: ql.IndexHNSW, HNSW: &ql.HNSWDef{Metric: "l2", M: -1}},
		`query error: field "x": @hnsw measures by cosine, l2 or dot, not by "taxi"`: {Kind: ql.IndexHNSW, HNSW: &ql.HNSWDef{Metric: "taxi"}},
		`query error: field "x": @hnsw takes quant=int8, bit or none, got "int4"`:    {Kind: ql.IndexHNSW, HNSW: &ql.HNSWDef{Metric: "l2", Quant: "int4"}},
	} {
		c, _ := create(t, new(catalog.Catalog), `create collection c (x int)`)
		_, _, _, _, err := c.CreateIndex(&ql.CreateIndex{On: ql.Name{Text: "c"}, Path: ql.Path{Field: "x"}, Index: index})
		require.EqualError(t, err, want)
	}
}

const library = `create collection library (title text @text, body text, v vector<4>, w sparse<9> @inverted, meta json)`

func TestSearchIndexPlaces(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), library)
	for text, want := range map[string]string{
		`create index on library (title) @text`:        `already exists: field "title" has an index already`,
		`create index on library (title) @sorted`:      `already exists: field "title" has an index already`,
		`create index on library (meta.a) @text`:       `query error: field "meta": @text cannot be put on a path`,
		`create index on library (meta.a) @hnsw`:       `query error: field "meta": @hnsw cannot be put on a path`,
		`create index on library (meta.a) @inverted`:   `query error: field "meta": @inverted cannot be put on a path`,
		`create index on library (meta.a) @hnsw(m=1)`:  `query error: field "meta": @hnsw takes m from 2 to 256, got 1`,
		`create index on library (body.a) @text`:       `query error: field "body": @text cannot be put on a path`,
		`alter collection library alter title @sorted`: `query error: field "title": there is no ordered index to alter`,
	} {
		_, _, _, err := change(t, c, text)
		require.EqualError(t, err, want, text)
	}
	c, _ = create(t, c, `create collection log (at timestamp @sorted)`)
	for _, kind := range []ql.IndexKind{ql.IndexText, ql.IndexHNSW, ql.IndexInverted} {
		_, _, _, err := c.Alter(&ql.AlterCollection{Kind: ql.AlterIndex, Name: ql.Name{Text: "log"}, Field: ql.Name{Text: "at"}, Index: &ql.IndexDef{Kind: kind}})
		require.EqualError(t, err, `query error: field "at": an index can be altered to @ttl and @sorted, not to @`+kind.String())
	}
}

// The ranges of search indexes are in no number that is drawn later.
func TestSearchSpaces(t *testing.T) {
	const text, inverted, hnsw, graph = catalog.TextSpaces, catalog.InvertedSpaces, catalog.HNSWSpaces, catalog.GraphSpaces
	c, col := create(t, new(catalog.Catalog), library)
	require.Equal(t, []uint32{1, 2 | text, 3 | inverted}, col.Spaces())
	c, after := changes(t, c, `create index on library (v) @hnsw`, `alter collection library add more text @text(chars)`,
		`alter collection library add n int @hash`, `create index on library (meta.a) @hash`)
	require.Equal(t, []uint32{1, 2 | text, 4 | hnsw, 4 | graph, 3 | inverted, 5 | text, 6, 7}, after.Spaces())
	c, _, building, x, err := c.BeginIndex(declareIndex(t, `create index on library (body) @text`))
	require.NoError(t, err)
	require.Equal(t, 8|text, x.Space)
	require.False(t, building.Built(x))
	require.EqualValues(t, 9, c.Next())

	loaded, err := catalog.Load(c.Next(), c.Collections())
	require.NoError(t, err)
	require.Equal(t, c, loaded)
	_, err = catalog.Load(8, c.Collections())
	require.ErrorIs(t, err, catalog.ErrCorrupt)

	with, _, installed, err := c.InstallIndex(col.Number, x)
	require.NoError(t, err)
	require.Same(t, x, installed.Fields[1].Index)
	require.Empty(t, installed.NewIndexes(building))
	_, _, abandoned, err := c.AbandonIndex(col.Number, x)
	require.NoError(t, err)
	require.NotContains(t, abandoned.Indexes(), x)
	_, other := create(t, with, `create collection other (x text @text)`)
	require.Equal(t, []uint32{9, 10 | text}, other.Spaces())
}

// A replica that is told of definitions draws the same numbers.
func TestSearchIndexesFollow(t *testing.T) {
	c, col := create(t, new(catalog.Catalog), library)
	replica, err := new(catalog.Catalog).Add(col)
	require.NoError(t, err)
	require.Equal(t, c, replica)
	for _, text := range []string{
		`create index on library (v) @hnsw(l2)`, `alter collection library add more text @text(chars)`, `alter collection library drop title`,
		`alter collection library rename v to u`,
	} {
		var after *catalog.Collection
		c, _, after, err = change(t, c, text)
		require.NoError(t, err)
		replica, _, err = replica.Replace(after)
		require.NoError(t, err, text)
		require.Equal(t, c, replica, text)
	}
}

func TestSearchIndexesDoNotFollow(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), `create collection a (x text @text, v vector<2> @hnsw, n text)`)
	for name, text := range map[string]string{
		"other options of a text":   `create collection a (x text @text(k1=1), v vector<2> @hnsw, n text)`,
		"other options of an hnsw":  `create collection a (x text @text, v vector<2> @hnsw(m=8), n text)`,
		"another kind":              `create collection a (x text @hash, v vector<2> @hnsw, n text)`,
		"a new index without turn":  `create collection a (x text, v vector<2> @hnsw, n text @text)`,
		"a number of another index": `create collection a (x text, v vector<2> @hash, n text)`,
	} {
		_, bad := create(t, new(catalog.Catalog), text)
		_, _, err := c.Replace(bad)
		require.ErrorIs(t, err, catalog.ErrCorrupt, name)
	}
}

// The highest number leaves the numbers of the store alone, in every range.
func TestNumbersUsedUp(t *testing.T) {
	const highest = 1<<29 - 1<<16
	c, err := catalog.Load(highest-1, nil)
	require.NoError(t, err)
	last, col := create(t, c, `create collection c (x text @text, y text)`)
	require.Equal(t, []uint32{highest - 1, highest | catalog.TextSpaces}, col.Spaces())
	stored, err := catalog.Decode(col.Append(nil))
	require.NoError(t, err)
	require.Equal(t, col, stored)

	_, _, err = c.Create(declare(t, `create collection c (x text @text, y text @text)`))
	require.EqualError(t, err, `query error: the numbers of collections and indexes are used up`)
	_, _, err = last.Create(declare(t, `create collection d (x int)`))
	require.Equal(t, fault.Query, fault.KindOf(err))
	_, _, _, err = change(t, last, `create index on c (y) @text`)
	require.EqualError(t, err, `query error: the numbers of collections and indexes are used up`)
}
