package exec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// itemRows is the size of the collection that BenchmarkStock reads.
const itemRows = 200_000

// openStock returns a view of items in a file: of a customer about 15 rows.
func openStock(b *testing.B) (*testDB, *store.View) {
	db := openFile(b, filepath.Join(b.TempDir(), "t.fenec"),
		`create collection item (customer int @hash, price int @sorted, qty int, kind text, meta json, at timestamp, ratio float, body text)`,
		`create index on item (meta.tag) @hash`)
	rng := rand.New(rand.NewPCG(3, 4))
	for range itemRows / 10_000 {
		docs := make([]any, 10_000)
		for i := range docs {
			docs[i] = map[string]any{
				"customer": rng.IntN(itemRows / 15), "price": rng.IntN(itemRows / 10), "qty": rng.IntN(100),
				"kind": fmt.Sprintf("kind %02d", rng.IntN(20)), "meta": map[string]any{"tag": fmt.Sprintf("tag%d", rng.IntN(itemRows/15))},
				"at": rng.IntN(1 << 40), "ratio": rng.Float64(), "body": strings.Repeat("b", 128),
			}
		}
		db.must("put item $1", docs)
	}
	return db, db.view(b)
}

// view folds everything and returns a view that ends with the benchmark.
func (db *testDB) view(b *testing.B) *store.View {
	require.NoError(b, db.store.Checkpoint(b.Context()))
	sn, err := db.store.Snapshot()
	require.NoError(b, err)
	v := sn.View()
	b.Cleanup(func() {
		v.Release()
		sn.Close()
	})
	return v
}

// ask runs a statement once for each iteration, with the parameters that args
// returns.
func (db *testDB) ask(b *testing.B, v *store.View, text string, args func(rng *rand.Rand) []value.Value) {
	q := db.compile(text).(exec.Query)
	rng := rand.New(rand.NewPCG(5, 6))
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		res, err := q.Run(context.Background(), exec.Env{Params: args(rng), Now: t0, Source: inView{v}})
		if err != nil {
			b.Fatal(err)
		}
		rows += res.Len()
	}
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
}

// BenchmarkStock asks for rows of a collection in a file by fields with an index
// and without.
func BenchmarkStock(b *testing.B) {
	db, v := openStock(b)
	params := make([]value.Value, 2)
	one := func(n int) func(*rand.Rand) []value.Value {
		return func(rng *rand.Rand) []value.Value {
			params[0] = value.Int(int64(rng.IntN(n)))
			return params
		}
	}
	span := func(n, width int) func(*rand.Rand) []value.Value {
		return func(rng *rand.Rand) []value.Value {
			from := int64(rng.IntN(n - width))
			params[0], params[1] = value.Int(from), value.Int(from+int64(width))
			return params
		}
	}
	tag := func(rng *rand.Rand) []value.Value {
		params[0] = value.Text(fmt.Sprintf("tag%d", rng.IntN(itemRows/15)))
		return params
	}
	var places []string
	many := make([]value.Value, 1000)
	for i := range many {
		places = append(places, fmt.Sprintf("$%d", i+1))
	}
	customers := func(rng *rand.Rand) []value.Value {
		for i := range many {
			many[i] = value.Int(int64(rng.IntN(itemRows / 15)))
		}
		return many
	}
	for _, c := range []struct {
		name, text string
		args       func(*rand.Rand) []value.Value
	}{
		{"id", `get item where id = $1`, one(itemRows)},
		{"equality", `get item where customer = $1`, one(itemRows / 15)},
		{"json", `get item where meta.tag = $1`, tag},
		{"in", `get item where customer in [` + strings.Join(places, ",") + `]`, customers},
		{"page", `get item where price >= $1 and price < $2 order price limit 50`, span(itemRows/10, 100)},
		{"count/equality", `get item where customer = $1 count`, one(itemRows / 15)},
		{"count/range", `get item where price >= $1 and price < $2 count`, span(itemRows/10, itemRows/100)},
		{"count/in", `get item where customer in [` + strings.Join(places, ",") + `] count`, customers},
		{"count/int", `get item where qty < $1 count`, one(100)},
		{"count/text", `get item where kind = "kind 07" count`, one(100)},
		{"count/float", `get item where ratio > 0.5 count`, one(100)},
		{"count/timestamp", `get item where at >= "1990-01-01" count`, one(100)},
		{"group", `get kind, count(*), sum(qty) from item group kind`, one(1)},
		{"group/many", `get price, count(*) from item where qty >= 0 group price limit 10`, one(1)},
	} {
		b.Run(c.name, func(b *testing.B) { db.ask(b, v, c.text, c.args) })
	}
}

// BenchmarkLookup asks for 20 parents with three children each, which were put
// one after the other, or with all others in between.
func BenchmarkLookup(b *testing.B) {
	const leagues, parents, children = 2_000, 20, 3
	for _, apart := range []bool{false, true} {
		db := openFile(b, filepath.Join(b.TempDir(), "t.fenec"),
			`create collection team (league int @hash, name text)`,
			`create collection member (team int @hash, points int, name text)`)
		put := func(n int, document func(i int) any) {
			for i := 0; i < n; i += 10_000 {
				docs := make([]any, 10_000)
				for j := range docs {
					docs[j] = document(i + j)
				}
				db.must(map[bool]string{true: "put team $1", false: "put member $1"}[n == leagues*parents], docs)
			}
		}
		group := func(i, groups, size int) int {
			if apart {
				return i % groups
			}
			return i / size
		}
		put(leagues*parents, func(i int) any {
			return map[string]any{"league": group(i, leagues, parents), "name": strings.Repeat("n", 96)}
		})
		put(leagues*parents*children, func(i int) any {
			return map[string]any{"team": group(i, leagues*parents, children) + 1, "points": i % 1000, "name": strings.Repeat("n", 96)}
		})
		v := db.view(b)
		params := make([]value.Value, 1)
		league := func(rng *rand.Rand) []value.Value {
			params[0] = value.Int(int64(rng.IntN(leagues)))
			return params
		}
		for _, c := range []struct{ name, text string }{
			{"parents", `get team where league = $1`},
			{"plain", `get team where league = $1 lookup member on team`},
			{"where", `get team where league = $1 lookup member on team where points >= 0`},
			{"order", `get team where league = $1 lookup member on team order points desc`},
			{"limit", `get team where league = $1 lookup member on team limit 2`},
		} {
			b.Run(fmt.Sprintf("apart=%t/%s", apart, c.name), func(b *testing.B) { db.ask(b, v, c.text, league) })
		}
	}
}
