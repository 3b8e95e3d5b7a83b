package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rest"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

func get(schemas rest.Schemas, raw string) (rest.Statement, error) {
	to := target.Parse(raw)
	return rest.Translate(schemas, rest.Request{Method: "GET", Path: to.Segments, Query: to.Query})
}

// requireSame checks that two translations are the same.
func requireSame(t *testing.T, want, got rest.Statement, what string) {
	t.Helper()
	require.Equal(t, want.Text, got.Text, what)
	require.Equal(t, want.Answer, got.Answer, what)
	require.Len(t, got.Args, len(want.Args), what)
	for i := range want.Args {
		require.Equal(t, stored(want.Args[i]), stored(got.Args[i]), what)
	}
}

func stored(arg any) []byte { return value.Append(nil, arg.(value.Value)) }

// Whatever was translated before, a read is translated as if it were the first.
func TestReadAgain(t *testing.T) {
	kept := schemasOf(t, odd...)
	for _, raw := range []string{
		"/books?id=1",
		"/books?id=2",
		"/books?id=eq.3",
		"/books?id=gt.3",
		"/books?id=x",
		"/books?id=in.(1,2)",
		"/books?id=not.1",
		"/books?id=is.null",
		"/books?title=v1.2",
		"/books?title=like.2",
		"/books?title=",
		"/books?tags=has.go",
		"/books?tags=go",
		"/books?pages=gte.1&pages=lt.2",
		"/books?pages=lt.1&pages=gte.2",
		"/books?pages=gte.x&price=y",
		"/books?select=id&pages=3&limit=1&order=pages.desc",
		"/books?select=id&pages=4&limit=1&order=pages.desc",
		"/books?select=id&pages=4&limit=2&order=pages.desc",
		"/books?limit=1&limit=2",
		"/books?limit=x",
		"/books?count&pages=7",
		"/books?count=no&pages=7",
		"/books?facet=pages top 1&price=gt.1",
		"/books?select=lower(title) as t&where=pages > 1&pages=1",
		"/books?lookup=reviews&reviews.on=book&pages=1",
		"/books?nothing=1",
		"/odd?null=1",
		"/odd?not=t&case=eq.x",
		"/odd?meta.a=7",
		"/odd?meta=7",
		"/odd?v=1",
	} {
		want, wantErr := get(schemasOf(t, odd...), raw)
		for range 3 {
			got, err := get(kept, raw)
			require.Equal(t, wantErr, err, raw)
			requireSame(t, want, got, raw)
		}
	}
}
