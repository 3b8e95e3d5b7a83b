package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rest"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// odd has fields of every type and with names that are words of the language.
var odd = append(append([]string{
	`create collection odd (not bool, case text, null int, by int, desc int, f float, x bytes, at timestamp, p geo @geo,
		v vector<2> @hnsw, w sparse<4> @inverted, l [text], m [[int]], meta json, body text @text)`,
}, library...), documents...)

// Whatever a request says, its statement parses, is of the kind that its answer
// tells, is about the collection it names, and has all its arguments.
func FuzzTranslate(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/books?id=1", ""},
		{"GET", "/odd?not=not.t&case=in.(a,b)&null=1&by=is.null&l=has.x&l=in.(a,b)&meta.a.b=7&at=2024-01-01", ""},
		{"GET", "/books?select=id,lower(title) as t&where=pages > 1 or false&order=title.tr.desc&limit=1&offset=2", ""},
		{"GET", "/reviews?select=book,count(*)&group=book&order=count(*).desc,sum(stars)", ""},
		{"GET", "/books?count&facet=pages top 1,blurb&lookup=reviews&reviews.on=book&reviews.required&reviews.order=stars.desc", ""},
		{"GET", "/books?lookup=reviews,odd&reviews.on=book&reviews.select=id&odd.on=by&odd.parent=stars&odd.meta.k=1", ""},
		{"GET", "/odd?order=not.desc,case.tr,meta.desc.asc,by&select=not,case&where=not", ""},
		{"GET", "/odd?where=not&case=x&where=case&not=t&select=not, -not as a, (case) as b", ""},
		{"GET", "/odd?where=by in (get id from books limit 1) -- x", ""},
		{"GET", "/odd?select=highlight(body)&facet=meta.k ranges [1, 2] disjunctive", ""},
		{"POST", "/odd", `[{"not":true,"meta.a b":1}]`},
		{"PATCH", "/odd?not=t&where=case ~ \"x\"", `{"null":1,"meta.k":[1,{"a":2}]}`},
		{"PUT", "/odd/all", `[{"not":false}]`},
		{"DELETE", "/odd?meta.k=like.x", ""},
		{"POST", "/odd/near?by=1", `{"vector":[1,0],"match":"x","fuse_k":3,"candidates":9,"limit":2,"where":"not","select":["id","meta.k"]}`},
		{"POST", "/odd/near", `{"field":"w","vector":"{1:2}/4","ef":3,"exact":true}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	schemas := schemasOf(f, odd...)
	f.Fuzz(func(t *testing.T, method, raw, body string) {
		to := target.Parse(raw)
		st, err := rest.Translate(schemas, rest.Request{Method: method, Path: to.Segments, Query: to.Query, Body: []byte(body)})
		if err != nil {
			statusOf(t, err)
			return
		}
		tree, err := ql.Parse(st.Text)
		require.NoError(t, err, st.Text)
		require.Equal(t, st.Text, ql.Print(tree))
		require.LessOrEqual(t, ql.Params(tree), len(st.Args))
		answer, collection := kindOf(t, tree)
		require.Equal(t, answer, st.Answer, st.Text)
		require.Equal(t, to.Segments[0], collection)
	})
}

// kindOf returns the answer that a statement has and the collection it is about.
func kindOf(t *testing.T, tree ql.Statement) (rest.Answer, string) {
	t.Helper()
	switch s := tree.(type) {
	case *ql.Get:
		switch {
		case s.Count:
			return rest.Count, s.From.Text
		case len(s.Facets) > 0:
			return rest.Faceted, s.From.Text
		}
		return rest.Rows, s.From.Text
	case *ql.Put:
		require.True(t, s.Insert)
		return rest.Inserted, s.Into.Text
	case *ql.Set:
		return rest.Updated, s.Name.Text
	case *ql.Del:
		return rest.Deleted, s.From.Text
	}
	require.Fail(t, "another statement", "%T", tree)
	return 0, ""
}

func FuzzFollow(f *testing.F) {
	for _, seed := range []string{"", "since=7&not=t&select=id,meta.k", "where=not&case=x", "where=false", "null=1&order=id", "meta.a=1&l=in.(a,b)"} {
		f.Add(seed)
	}
	schemas := schemasOf(f, odd...)
	f.Fuzz(func(t *testing.T, query string) {
		shape, _, err := rest.Follow(schemas, "odd", target.ParseQuery(query))
		if err != nil {
			statusOf(t, err)
			return
		}
		for _, s := range shape.Select {
			e, err := ql.ParseExpr(s)
			require.NoError(t, err)
			require.IsType(t, &ql.Path{}, e)
		}
		if shape.Where == "" {
			return
		}
		e, err := ql.ParseExpr(shape.Where)
		require.NoError(t, err, shape.Where)
		require.LessOrEqual(t, ql.Params(e), len(shape.Args))
	})
}
