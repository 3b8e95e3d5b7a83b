package fenec_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

var shops = []string{
	"create collection shop (name text, ord int)",
	`put shop [{name: "North", ord: 7}, {name: "South"}]`,
	"create collection ord (shop int @hash, total int, at timestamp)",
	`put ord [{shop: 1, total: 10, at: "2026-01-02"}, {shop: 1, total: 30}, {shop: 9}]`,
	"create collection line (ord int @hash, q int)",
	"put line [{ord: 1, q: 5}, {ord: 1, q: 6}]",
}

func TestChildren(t *testing.T) {
	db := memory(t, shops...)
	res := query(t, db, "get shop lookup ord on shop lookup line on ord")
	require.Equal(t, []string{"id", "name", "ord"}, res.Columns(), "the children stand in for a column of their name")
	var got []string
	for shop := range res.All() {
		name, err := shop.Text("name")
		require.NoError(t, err)
		for ord := range shop.Children() {
			total, err := ord.Int("total")
			require.NoError(t, err)
			for line := range ord.Children() {
				q, err := line.Int("q")
				require.NoError(t, err)
				got = append(got, fmt.Sprint(name, " ", total, " ", q))
			}
		}
		got = append(got, name)
	}
	require.Equal(t, []string{"North 10 5", "North 10 6", "North", "South"}, got)

	plain := query(t, db, "get shop")
	require.True(t, plain.Next())
	for range plain.Row().Children() {
		t.Fatal("children without a lookup")
	}
}

func TestCollectChildren(t *testing.T) {
	db := memory(t, shops...)
	type order struct {
		ID    int
		Total int
		At    *time.Time
	}
	type shop struct {
		Name   string
		Orders []order `fenec:"ord"`
	}
	got, err := fenec.Collect[shop](query(t, db, "get name from shop lookup ord on shop order total desc"))
	require.NoError(t, err)
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []shop{{"North", []order{{2, 30, nil}, {1, 10, &at}}}, {"South", []order{}}}, got)

	res := query(t, db, "get name from shop where id = 1 lookup ord on shop select total")
	require.True(t, res.Next())
	var name string
	var raw json.RawMessage
	require.NoError(t, res.Scan(&name, &raw))
	require.JSONEq(t, `[{"total":10},{"total":30}]`, string(raw))

	_, err = fenec.Collect[struct {
		Ord []struct{ Total string }
	}](query(t, db, "get shop lookup ord on shop"))
	require.ErrorIs(t, err, fenec.ErrType)
	require.ErrorContains(t, err, `"total"`)
}

func TestFacets(t *testing.T) {
	db := memory(t, shops...)
	res := query(t, db, "get ord limit 1 facet shop, total ranges [0, 20, 40]")
	require.Equal(t, 1, res.Len())
	require.Equal(t, []fenec.Facet{
		{Name: "shop", Counts: []fenec.FacetCount{{Value: int64(1), Count: 2}, {Value: int64(9), Count: 1}}},
		{Name: "total", Counts: []fenec.FacetCount{
			{Value: []any{int64(0), int64(20)}, Count: 1}, {Value: []any{int64(20), int64(40)}, Count: 1},
		}},
	}, res.Facets())
	require.Empty(t, query(t, db, "get ord").Facets())
	require.Empty(t, query(t, db, "describe ord").Facets())
}
