package rest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rest"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

func TestFollow(t *testing.T) {
	s := open(t, append(library, `create collection logs (group int, facet text, meta json)`, `put logs {group: 1, facet: "f"}`)...)
	tests := []struct {
		collection, query string
		want              fenec.Shape
		since             uint64
	}{
		{"books", "", fenec.Shape{Collection: "books"}, fenec.NoCursor},
		{"books", "since=7&pages=gt.5&select=title,id", fenec.Shape{
			Collection: "books", Where: "pages > $1", Args: []any{value.Int(5)}, Select: []string{"title", "id"}}, 7},
		{"books", "where=false&select=id", fenec.Shape{Collection: "books", Where: "false", Select: []string{"id"}}, fenec.NoCursor},
		{"books", "pages=1&where=price < 2 or price > 3&tags=has.x&since=1&since=0", fenec.Shape{
			Collection: "books", Where: "pages = $1 and (price < 2 or price > 3) and tags has $2",
			Args: []any{value.Int(1), value.Text("x")}}, 0},
		{"logs", "group=1&facet=f&select=meta.k", fenec.Shape{
			Collection: "logs", Where: "group = $1 and facet = $2", Args: []any{value.Int(1), value.Text("f")}, Select: []string{"meta.k"}}, fenec.NoCursor},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			shape, since, err := rest.Follow(s.schemas, tt.collection, target.ParseQuery(tt.query))
			require.NoError(t, err)
			require.Equal(t, tt.since, since)
			require.Len(t, shape.Args, len(tt.want.Args))
			for i, a := range tt.want.Args {
				require.Equal(t, a.(value.Value).String(), shape.Args[i].(value.Value).String())
			}
			shape.Args, tt.want.Args = nil, nil
			require.Equal(t, tt.want, shape)
		})
	}
}

func TestFollowRefused(t *testing.T) {
	s := open(t, library...)
	for query, status := range map[string]int{
		"order=id": 400, "limit=1": 400, "offset=1": 400, "count": 400, "count=no": 400, "lookup=reviews": 400,
		"since=": 400, "since=x": 400, "since=-1": 400, "since=18446744073709551616": 400,
		"select=": 400, "select=lower(title) as x": 400, "select=zz": 404, "zz=1": 404, "group=pages": 404,
		"pages=x": 400, "where=pages >": 400, "where=pages > $1": 400,
	} {
		t.Run(query, func(t *testing.T) {
			_, _, err := rest.Follow(s.schemas, "books", target.ParseQuery(query))
			require.Error(t, err)
			require.Equal(t, status, statusOf(t, err), err)
		})
	}
	_, _, err := rest.Follow(s.schemas, "nope", nil)
	require.ErrorIs(t, err, fenec.ErrNotFound)
}

// What is followed is what a read of the same query answers.
func TestFollowedRowsAreThoseRead(t *testing.T) {
	s := open(t, library...)
	for _, query := range []string{
		"select=id,title", "select=id,pages&pages=gte.200", "select=id&tags=has.go&where=price > 1", "select=id&pages=not.in.(96,310)", "where=false",
	} {
		shape, since, err := rest.Follow(s.schemas, "books", target.ParseQuery(query))
		require.NoError(t, err)
		sub, err := s.db.Subscribe(context.Background(), shape, since)
		require.NoError(t, err)
		ev, err := sub.Next(context.Background())
		require.NoError(t, err)
		require.Equal(t, fenec.EventSeed, ev.Kind)
		got, err := ev.Rows.AppendJSON(nil)
		require.NoError(t, err)
		_, want := s.do("GET", "/books?"+query, "")
		require.Equal(t, want, string(got))
		require.NoError(t, sub.Close())
	}
}
