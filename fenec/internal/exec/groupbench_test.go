package exec_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/exec"
)

// BenchmarkGroup puts the rows of a collection in a file in groups.
func BenchmarkGroup(b *testing.B) {
	const rows = 200_000
	db := openFile(b, filepath.Join(b.TempDir(), "t.fenec"),
		`create collection item (sku text, kind text @hash, price int, name text, qty int, at timestamp, ratio float, j json)`)
	for i := 0; i < rows; i += 10_000 {
		docs := make([]any, 10_000)
		for j := range docs {
			n := i + j
			docs[j] = map[string]any{
				"sku": "sku-" + string(rune('a'+n%26)), "kind": "kind-" + string(rune('a'+n*7919%100%26)), "price": n * 7919 % rows,
				"name": "the name of an item", "qty": n % 1000, "at": n * 60000, "ratio": float64(n%7) + 0.25, "j": map[string]any{"k": n % 10},
			}
		}
		db.must("put item $1", docs)
	}
	require.NoError(b, db.store.Checkpoint(b.Context()))
	sn, err := db.store.Snapshot()
	require.NoError(b, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	for _, text := range []string{
		`get item where qty >= 0 count`,
		`get count(*), sum(price) from item`,
		`get kind, count(*), sum(price) from item group kind`,
		`get kind, count(*) from item group kind`,
		`get kind, sku, avg(ratio), max(qty) from item group kind, sku`,
		`get qty, count(*) from item group qty order count desc limit 10`,
		`get price, count(*) from item group price limit 10`,
		`get bucket(at, 1d) as d, count(*) from item group d`,
		`get j.k, count(*) from item group j.k`,
		`get count(distinct price) from item`,
		`get approx_count_distinct(price) from item`,
		`get item limit 0 facet kind, qty, ratio ranges [0, 3, 7]`,
	} {
		b.Run(text, func(b *testing.B) {
			q := db.compile(text).(exec.Query)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := q.Run(context.Background(), exec.Env{Source: inView{v}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
