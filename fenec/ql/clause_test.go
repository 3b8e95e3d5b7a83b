package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// number returns a number as trees hold those of clauses.
func number(n int64) *int64 { return &n }

func TestParseClauses(t *testing.T) {
	a, b, p1 := field("a"), field("b"), &ql.Param{N: 1}
	ab := ql.Path{Field: "a", Keys: []string{"b"}}
	tests := []struct {
		text string
		want ql.Get
	}{
		{`get t near v $1`, ql.Get{Near: &ql.Near{Field: name("v"), Vector: p1}}},
		{`get t near v [1] exact ef 3 ef 4`, ql.Get{Near: &ql.Near{Field: name("v"), Vector: list(integer(1)), EF: number(4), Exact: true}}},
		{`get t near a $1 near b $1`, ql.Get{Near: &ql.Near{Field: name("b"), Vector: p1}}},
		{`get t match match match`, ql.Get{Match: &ql.Match{Field: name("match"), Query: field("match")}}},
		{`get t match a b rerank v $1 candidates 7`, ql.Get{Match: &ql.Match{Field: name("a"), Query: b},
			Rerank: &ql.Rerank{Field: name("v"), Vector: p1, Candidates: number(7)}}},
		{`get t match a b near v $1 fuse candidates 9 k 0`, ql.Get{Match: &ql.Match{Field: name("a"), Query: b},
			Near: &ql.Near{Field: name("v"), Vector: p1}, Fuse: &ql.Fuse{K: number(0), Candidates: number(9)}}},
		{`get t group a, b having a`, ql.Get{Group: []ql.Expr{a, b}, Having: a}},
		{`get t group by (a) group by b`, ql.Get{Group: []ql.Expr{b}}},
		{`get t group by`, ql.Get{Group: []ql.Expr{field("by")}}},
		{`get t group by by`, ql.Get{Group: []ql.Expr{field("by")}}},
		{`get t group a order sum(a.b) collate tr desc, b asc collate und order count(*)`, ql.Get{Group: []ql.Expr{a}, Order: []ql.Key{
			{Call: call("sum", &ab), Collate: "tr", Desc: true}, {Path: *b, Collate: "und"}, {Call: &ql.Call{Name: "count", Star: true}}}}},
		{`get t require 0`, ql.Get{Require: number(0)}},
		{`get t facet top top 3, a.b ranges [-1, 0.5, 2] disjunctive, ranges`, ql.Get{Facets: []ql.Facet{
			{Path: *field("top"), Top: number(3)},
			{Path: ab, Ranges: []*ql.Literal{integer(-1), decimal(0.5), integer(2)}, Disjunctive: true},
			{Path: *field("ranges")}}}},
		{`get t facet a facet a`, ql.Get{Facets: []ql.Facet{{Path: *a}}}},
		{`get *, Highlight(a), snippet(b, 3, $1) from t`, ql.Get{Star: true, Columns: []ql.Column{
			{Mark: &ql.Mark{Kind: ql.MarkHighlight, Field: name("a")}},
			{Mark: &ql.Mark{Kind: ql.MarkSnippet, Field: name("b"), Words: 3, Args: []ql.Expr{p1}}}}}},
		{`get highlight(a, "<", $1), highlight, snippet as s from t`, ql.Get{Columns: []ql.Column{
			{Mark: &ql.Mark{Kind: ql.MarkHighlight, Field: name("a"), Args: []ql.Expr{text("<"), p1}}},
			{Expr: field("highlight")}, {Expr: field("snippet"), As: name("s")}}}},
		{`get t lookup u on k`, ql.Get{Lookup: &ql.Lookup{Collection: name("u"), On: name("k")}}},
		{`get t limit 1 lookup on on on = on select a.b, a where b order a limit 2 offset 3 required lookup lookup on k select *`,
			ql.Get{Limit: number(1), Lookup: &ql.Lookup{Collection: name("on"), On: name("on"), Parent: name("on"),
				Columns: []ql.Path{ab, *a}, Where: b, Order: []ql.Key{{Path: *a}}, Limit: number(2), Offset: number(3), Required: true,
				Lookup: &ql.Lookup{Collection: name("lookup"), On: name("k"), Star: true}}}},
		{`get t where a in (select b from u where b)`, ql.Get{Where: &ql.In{X: a,
			Get: &ql.Get{From: name("u"), Columns: []ql.Column{{Expr: b}}, Where: b}}}},
	}
	for _, tt := range tests {
		tt.want.From = name("t")
		require.Equal(t, &tt.want, parse(t, tt.text), tt.text)
	}
}

// Words of clauses are names where a name stands.
func TestParseNamesOfClauses(t *testing.T) {
	tests := []struct {
		text string
		want ql.Statement
	}{
		{`get near near near near`, &ql.Get{From: name("near"), Near: &ql.Near{Field: name("near"), Vector: field("near")}}},
		{`get not near a $1`, &ql.Get{From: name("not"), Near: &ql.Near{Field: name("a"), Vector: &ql.Param{N: 1}}}},
		{`get from from group a`, &ql.Get{From: name("from"), Group: []ql.Expr{field("a")}}},
		{`get facet facet facet`, &ql.Get{From: name("facet"), Facets: []ql.Facet{{Path: *field("facet")}}}},
		{`get lookup lookup u on a`, &ql.Get{From: name("lookup"), Lookup: &ql.Lookup{Collection: name("u"), On: name("a")}}},
		{`put if {} if absent`, &ql.Put{Into: name("if"), Docs: []ql.Document{nil}, IfAbsent: true}},
		{`set require {} require 1`, &ql.Set{Name: name("require"), Require: number(1)}},
		{`del returning returning returning`, &ql.Del{From: name("returning"),
			Returning: &ql.Returning{Paths: []ql.Path{*field("returning")}}}},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, parse(t, tt.text), tt.text)
	}
}

func TestParseOutcomes(t *testing.T) {
	a, ab := field("a"), ql.Path{Field: "a", Keys: []string{"b"}}
	doc := []ql.Document{nil}
	tests := []struct {
		text string
		want ql.Statement
	}{
		{`put t {} require 2`, &ql.Put{Into: name("t"), Docs: doc, Require: number(2)}},
		{`insert t {} if absent`, &ql.Put{Insert: true, Into: name("t"), Docs: doc, IfAbsent: true}},
		{`put t $1 if absent else set {} require 2`, &ql.Put{Into: name("t"), Param: &ql.Param{N: 1},
			IfAbsent: true, HasElse: true, Require: number(2)}},
		{`put t {} if absent else set {a: new.b, a.b: 1}`, &ql.Put{Into: name("t"), Docs: doc, IfAbsent: true, HasElse: true,
			ElseSet: ql.Document{pair("a", &ql.Path{Field: "new", Keys: []string{"b"}}), {Path: ab, Value: integer(1)}}}},
		{`set t {} returning * returning a, a.b require 1 where a`, &ql.Set{Name: name("t"), Where: a,
			Returning: &ql.Returning{Paths: []ql.Path{*a, ab}}, Require: number(1)}},
		{`del t returning a returning *`, &ql.Del{From: name("t"), Returning: &ql.Returning{Star: true}}},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, parse(t, tt.text), tt.text)
	}
}
