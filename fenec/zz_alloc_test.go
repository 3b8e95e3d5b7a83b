package fenec_test

import (
	"testing"
	"strconv"
	"github.com/stretchr/testify/require"
)

func benchDB(t testing.TB) interface{} { return nil }

func BenchmarkZZGet(b *testing.B) {
	db := memory(b, "create collection item (name text, g int @hash, n int, f float)")
	for i := range 1000 {
		_, err := db.Exec(b.Context(), "put item {name: $1, g: $2, n: $3, f: 2.5}", "item "+strconv.Itoa(i), i/15, i)
		require.NoError(b, err)
	}
	require.NoError(b, db.Checkpoint(b.Context()))
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		var id int64
		var name string
		var g, n int64
		var f float64
		for i := range b.N {
			res, err := db.Query(b.Context(), "get item where id = $1", i%900+1)
			if err != nil { b.Fatal(err) }
			res.Next()
			if err := res.Scan(&id, &name, &g, &n, &f); err != nil { b.Fatal(err) }
		}
	})
	b.Run("getnoscan", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			res, err := db.Query(b.Context(), "get item where id = $1", i%900+1)
			if err != nil { b.Fatal(err) }
			res.Next()
		}
	})
	b.Run("eq15", func(b *testing.B) {
		b.ReportAllocs()
		var id int64
		var name string
		var g, n int64
		var f float64
		for i := range b.N {
			res, err := db.Query(b.Context(), "get item where g = $1", i%60+1)
			if err != nil { b.Fatal(err) }
			for res.Next() {
			if err := res.Scan(&id, &name, &g, &n, &f); err != nil { b.Fatal(err) }
			}
		}
	})
	put, _ := db.Prepare("put item {name: $1, g: $2, n: $3, f: 2.5}")
	b.Run("put", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			_, err := put.Exec(b.Context(), "item", i, i)
			if err != nil { b.Fatal(err) }
		}
	})
}
