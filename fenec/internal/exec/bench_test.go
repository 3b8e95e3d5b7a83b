package exec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// benchRows is the size of the collection that benchmarks read.
const benchRows = 100_000

func openBench(b *testing.B, rows int) *testDB {
	db := openTest(b, `create collection item (sku text @unique, kind text @hash, price int @sorted, name text, qty int, at timestamp, ratio float)`)
	for i := 0; i < rows; i += 1000 {
		var docs strings.Builder
		for j := i; j < i+1000; j++ {
			fmt.Fprintf(&docs, `{sku: "sku-%d", kind: "kind-%d", price: %d, name: "the name of item %d", qty: %d, at: %d, ratio: %d.25}`,
				j, j%100, j*7919%benchRows, j, j%1000, int64(j)*60000, j%7)
		}
		db.must("put item " + docs.String())
	}
	return db
}

func (db *testDB) compile(text string) exec.Statement {
	tree, err := ql.Parse(text)
	require.NoError(db.t, err, text)
	s, err := exec.Compile(db.cat, tree, exec.Options{})
	require.NoError(db.t, err, text)
	return s
}

// BenchmarkQuery runs prepared statements in one view, without the snapshot.
func BenchmarkQuery(b *testing.B) {
	db := openBench(b, benchRows)
	sn, err := db.store.Snapshot()
	require.NoError(b, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	t := table.NewReader(v, db.cat.Find("item"))
	b.Run("storage/get by id", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if row, err := t.Get(uint64(i*7919%benchRows + 1)); row == nil || err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("storage/scan", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for s := t.Scan(0, 1<<62, false); s.Next(); n++ {
			}
			require.Equal(b, benchRows, n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	})
	for _, text := range []string{
		`get item where id = $1`,
		`get name, price from item where id = $1`,
		`get item where sku = "sku-777"`,
		`get item where kind = "kind-7" limit 10`,
		`get item where kind in ["kind-7", "kind-9"] and qty > 500 limit 10`,
		`get item where kind = "kind-7"`,
		`get item where kind = "kind-7" count`,
		`get item order price limit 10`,
		`get item where price > 5000 order price desc limit 10`,
		`get item where price > 5000 or price = 5000 and id > 3 order price, id limit 10`,
		`get item where qty = 5 order price limit 10`,
		`get item order qty limit 10`,
		`get item order qty desc, name limit 10`,
		`get id from item order name`,
		`get item where qty > 990 count`,
		`get item where name ~ "99" count`,
		`get item where price >= 100 and price < 200`,
		`get item where price >= 100 limit 10`,
		`get item count`,
		`get item`,
	} {
		b.Run(text, func(b *testing.B) {
			q := db.compile(text).(exec.Query)
			ctx := context.Background()
			args := []value.Value{value.Int(0)}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				args[0] = value.Int(int64(i*7919%benchRows + 1))
				if _, err := q.Run(ctx, exec.Env{Params: args, Source: inView{v}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkJSON writes ten rows.
func BenchmarkJSON(b *testing.B) {
	db := openBench(b, 1000)
	for _, text := range []string{`get item limit 10`, `get name, price, price * 2 as double from item limit 10`} {
		b.Run(text, func(b *testing.B) {
			res := db.must(text).res
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out, _ = res.AppendJSON(out[:0])
			}
			b.SetBytes(int64(len(out)))
		})
	}
}

// BenchmarkPut writes documents in one block after the other, and beside it
// the rows alone.
func BenchmarkPut(b *testing.B) {
	const schema = `create collection t (a int, b text)`
	for _, text := range []string{`put t {a: $1, b: $2}`, `put t {id: $1, a: $1, b: $2}`, `set t {a: a + 1} where id = $1`} {
		b.Run(text, func(b *testing.B) {
			db := openTest(b, schema, `put t {a: 1, b: "x"}`)
			w := db.compile(text).(exec.Write)
			args := []value.Value{value.Int(1), value.Text("a text of some length")}
			b.ReportAllocs()
			db.blocks(b, func(tx *table.Tx) {
				if _, err := w.Run(context.Background(), exec.Env{Params: args, Source: inBlock{tx}}, tx); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	b.Run("storage/put", func(b *testing.B) {
		db := openTest(b, schema, `put t {a: 1, b: "a text of some length"}`)
		row := db.must("get t").res.Data(0)
		b.ReportAllocs()
		db.blocks(b, func(tx *table.Tx) {
			w := tx.Writer(db.cat.Find("t"))
			id, err := w.NextID()
			if err == nil {
				err = w.Put(id, row)
			}
			if err != nil {
				b.Fatal(err)
			}
		})
	})
}

// blocks runs fn once per iteration, a thousand times in each block.
func (db *testDB) blocks(b *testing.B, fn func(tx *table.Tx)) {
	var block *store.Block
	var tx *table.Tx
	n := 0
	for b.Loop() {
		if n%1000 == 0 {
			if tx != nil {
				db.commit(b, block, tx)
			}
			var err error
			block, err = db.store.Begin(context.Background(), nil)
			require.NoError(b, err)
			tx = db.cache.Begin(block)
		}
		n++
		fn(tx)
	}
	db.commit(b, block, tx)
}

func (db *testDB) commit(b *testing.B, block *store.Block, tx *table.Tx) {
	require.NoError(b, tx.Seal())
	_, err := block.Commit(func(uint64) { tx.Publish() })
	require.NoError(b, err)
}

// BenchmarkIn looks for many values at once.
func BenchmarkIn(b *testing.B) {
	db := openBench(b, benchRows)
	for _, n := range []int{10, 100, 1000, 10_000, 50_000} {
		var list strings.Builder
		for i := range n {
			fmt.Fprintf(&list, "%d,", i*7919%benchRows+1)
		}
		for _, field := range []string{"id", "price", "qty"} {
			b.Run(fmt.Sprintf("field=%s/values=%d", field, n), func(b *testing.B) {
				q := db.compile("get item where " + field + " in [" + list.String() + "] count").(exec.Query)
				sn, err := db.store.Snapshot()
				require.NoError(b, err)
				defer sn.Close()
				v := sn.View()
				defer v.Release()
				for b.Loop() {
					if _, err := q.Run(context.Background(), exec.Env{Source: inView{v}}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
			})
		}
	}
}
