package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// inBlock is how many rows Load writes in one block, if they are small.
const inBlock = 512

// rowsOf yields the arguments that row returns for 0 to n-1.
func rowsOf(n int, row func(i int) []any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for i := range n {
			if !yield(row(i), nil) {
				return
			}
		}
	}
}

// numbers yields 0 to n-1.
func numbers(n int) iter.Seq2[[]any, error] {
	return rowsOf(n, func(i int) []any { return []any{i} })
}

// numbersWith yields 0 to n-1, and another argument in place of the number at.
func numbersWith(n, at int, instead any) iter.Seq2[[]any, error] {
	return rowsOf(n, func(i int) []any {
		if i == at {
			return []any{instead}
		}
		return []any{i}
	})
}

func count(t *testing.T, db *fenec.DB) int {
	t.Helper()
	return query(t, db, "get id from c").Len()
}

// TestLoad compares what is loaded, from memory that each row uses again, with
// what puts write one by one.
func TestLoad(t *testing.T) {
	const schema = "create collection c (n int @hash, e vector<3>, h vector<200, f16>, s text @sorted, b bytes, j json, at timestamp)"
	const put = "put c {n: $1, e: $2, h: $3, s: $4, b: $5, j: $6}"
	loaded, want := memory(t, schema), memory(t, schema)

	args, list := make([]any, 7), []any{1, nil}
	e, h, b := make([]float32, 3), make([]float32, 200), make([]byte, 5)
	fill := func(i int) []any {
		for j := range h {
			h[j] = float32(i*j) / 7
			e[j%3] = h[j]
			b[j%5] = byte(i + j)
		}
		list[1] = h[:i%9]
		copy(args, []any{i, e, h, fmt.Sprint("row ", i), b, map[string]any{"list": list, "bytes": "b"}, "not used"})
		if i%10 == 0 {
			args[0], args[1] = nil, []any{i, 0.5, 1}
		}
		return args
	}
	const rows = 2*inBlock + 100
	n, err := loaded.Load(t.Context(), put, rowsOf(rows, fill))
	require.NoError(t, err)
	require.Equal(t, rows, n)
	for i := range rows {
		_, err := want.Exec(t.Context(), put, fill(i)...)
		require.NoError(t, err)
	}
	require.Equal(t, want.Seq(), loaded.Seq())
	for _, text := range []string{"get c order id", `get id from c where n in [0, 3, 700] order id`, `get id from c where s = "row 511"`} {
		require.Equal(t, body(t, want, text), body(t, loaded, text))
	}
}

func TestLoadStatements(t *testing.T) {
	type doc struct {
		ID int
		N  int
		E  []float32
	}
	for _, test := range []struct {
		text string
		rows iter.Seq2[[]any, error]
		n    int
		want string // n of the documents by id
	}{
		{"put c {n: $1}", numbers(0), 0, "10 20 30"},
		{"put c {n: $1}", numbers(2), 2, "10 20 30 0 1"},
		{"insert c {id: $1 + 7, n: $1}", numbers(2), 2, "10 20 30 0 1"},
		{"put c {id: $1 + 3, n: $1}", numbers(2), 2, "10 20 0 1"},
		{"put c {n: $1 + 10} if absent", rowsOf(11, func(i int) []any { return []any{i} }), 11, "10 20 30 11 12 13 14 15 16 17 18 19"},
		{"put c $1", rowsOf(2, func(i int) []any { return []any{doc{N: i, E: []float32{1, 2}}} }), 2, "10 20 30 0 1"},
		{"put c $1", rowsOf(2, func(i int) []any { return []any{[]*doc{{N: i}, {N: -1 - i}}} }), 2, "10 20 30 0 -1 1 -2"},
		{"set c {n: $1 + 5} where id = $1 returning n", numbers(3), 3, "6 7 30"},
		{"del c where id = $1", numbers(3), 3, "30"},
		{"del c where n > $1", numbers(1), 1, ""},
	} {
		db := memory(t, "create collection c (n int @unique, e vector<2>)", "put c [{n: 10}, {n: 20}, {n: 30}]")
		n, err := db.Load(t.Context(), test.text, test.rows)
		require.NoError(t, err, test.text)
		require.Equal(t, test.n, n, test.text)
		var got []string
		for row := range query(t, db, "get c order id").All() {
			v, err := row.Int("n")
			require.NoError(t, err)
			got = append(got, fmt.Sprint(v))
		}
		require.Equal(t, test.want, strings.Join(got, " "), test.text)
	}
}

// TestLoadFails ends loads of 1300 numbers, most of them at the row 700: one block
// is written then, and none after it.
func TestLoadFails(t *testing.T) {
	const rows, bad = 1300, 700
	broken := errors.New("the source broke")
	refuse := func(c *fenec.RowChange) error {
		n, err := c.After.Int("n")
		if n == bad {
			return errors.New("not that one")
		}
		return err
	}
	for name, test := range map[string]struct {
		text    string // instead of a put of n
		rows    iter.Seq2[[]any, error]
		prepare func(*fenec.DB)
		want    error
		at      int // of the row that the error names, or -1
		n       int
	}{
		"type":           {rows: numbersWith(rows, bad, "x"), want: fenec.ErrType, at: bad, n: inBlock},
		"argument":       {rows: numbersWith(rows, bad, make(chan int)), want: fenec.ErrType, at: bad, n: inBlock},
		"unique":         {rows: numbersWith(rows, bad, 3), want: fenec.ErrDuplicate, at: bad, n: inBlock},
		"first":          {rows: numbersWith(rows, 0, "x"), want: fenec.ErrType, at: 0, n: 0},
		"first of block": {rows: numbersWith(rows, inBlock, "x"), want: fenec.ErrType, at: inBlock, n: inBlock},
		"last of block":  {rows: numbersWith(rows, inBlock-1, "x"), want: fenec.ErrType, at: inBlock - 1, n: 0},
		"last":           {rows: numbersWith(rows, rows-1, "x"), want: fenec.ErrType, at: rows - 1, n: 2 * inBlock},
		"required":       {rows: numbers(rows), text: "put c {m: $1}", want: fenec.ErrType, at: 0},
		"parameter":      {rows: numbers(rows), text: "put c {n: $1, m: $2}", want: fenec.ErrQuery, at: 0},
		"require": {
			rows: numbers(rows), text: "set c {m: 1} where n = $1 require 1", want: fenec.ErrUnmet, at: 0,
		},
		"hook": {
			rows: numbers(rows), prepare: func(db *fenec.DB) { db.SetHook(refuse) }, want: fenec.ErrDenied, at: bad, n: inBlock,
		},
		"limit": {rows: numbers(rows), want: fenec.ErrOverLimit, at: -1, n: inBlock, prepare: func(db *fenec.DB) {
			written := 0
			db.SetLimit(func(b fenec.Block) error {
				if written += b.Written; written > bad {
					return fenec.Over("more than %d", bad)
				}
				return nil
			})
		}},
		"source": {want: broken, at: -1, n: inBlock, rows: func(yield func([]any, error) bool) {
			for args := range numbers(bad) {
				if !yield(args, nil) {
					return
				}
			}
			yield(nil, broken)
		}},
		"no collection": {rows: numbers(rows), text: "put nothing {n: $1}", want: fenec.ErrNotFound, at: -1},
		"no statement":  {rows: numbers(rows), text: "put c {", want: fenec.ErrQuery, at: -1},
		"a read":        {rows: numbers(rows), text: "get c where n = $1", want: fenec.ErrQuery, at: -1},
		"a schema":      {rows: numbers(rows), text: "drop collection c", want: fenec.ErrQuery, at: -1},
	} {
		t.Run(name, func(t *testing.T) {
			db := memory(t, "create collection c (n int @unique required, m int)")
			if test.prepare != nil {
				test.prepare(db)
			}
			if test.text == "" {
				test.text = "put c {n: $1}"
			}
			n, err := db.Load(t.Context(), test.text, test.rows)
			require.ErrorIs(t, err, test.want)
			var row *fenec.BatchError
			if errors.As(err, &row) {
				require.Equal(t, fenec.BatchError{At: test.at, Completed: test.n, Err: row.Err}, *row)
			} else {
				require.Equal(t, -1, test.at, err)
			}
			require.Equal(t, test.n, n)
			require.Equal(t, n, count(t, db))
			require.EqualValues(t, n, query(t, db, "get c where n < $1", n).Len())
		})
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	db := memory(t, "create collection c (n int)")
	ctx, cancel := context.WithCancel(t.Context())
	n, err := db.Load(ctx, "put c {n: $1}", rowsOf(1<<30, func(i int) []any {
		if i == 2*inBlock+10 {
			cancel()
		}
		return []any{i}
	}))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2*inBlock, n)
	require.Equal(t, n, count(t, db))
	require.NoError(t, db.Close())
	_, err = db.Load(t.Context(), "put c {n: $1}", numbers(1))
	require.ErrorIs(t, err, fenec.ErrClosed)
}

// TestLoadBlocks looks at the blocks that rows are written in.
func TestLoadBlocks(t *testing.T) {
	text := strings.Repeat("x", 100_000)
	for name, test := range map[string]struct {
		rows iter.Seq2[[]any, error]
		want []int // documents of each
	}{
		"by rows":   {numbers(2*inBlock + 1), []int{inBlock, inBlock, 1}},
		"texts":     {rowsOf(7, func(int) []any { return []any{nil, text} }), []int{3, 3, 1}},
		"vectors":   {rowsOf(7, func(int) []any { return []any{nil, nil, make([]float32, 25_000)} }), []int{3, 3, 1}},
		"documents": {rowsOf(7, func(int) []any { return []any{nil, nil, nil, []any{map[string]string{"k": text}}} }), []int{3, 3, 1}},
		"none":      {numbers(0), nil},
	} {
		db := memory(t, "create collection c (n int, s text, e vector<25000>, j json)")
		var got []int
		db.SetLimit(func(b fenec.Block) error {
			got = append(got, b.Written)
			return nil
		})
		put := "put c {n: $1, s: $2, e: $3, j: $4}"
		n, err := db.Load(t.Context(), put, func(yield func([]any, error) bool) {
			for args := range test.rows {
				if !yield(append(args, make([]any, 4-len(args))...), nil) {
					return
				}
			}
		})
		require.NoError(t, err, name)
		require.Equal(t, test.want, got, name)
		require.Equal(t, n, count(t, db), name)
	}
}

// TestLoadSmallBlocks gives the database less memory for a block than rows take up.
func TestLoadSmallBlocks(t *testing.T) {
	db, err := fenec.OpenMemory(fenec.Options{BlockBytes: 64 << 10})
	require.NoError(t, err)
	defer db.Close()
	runAll(t, db, "create collection c (n int, s text)")
	rows := rowsOf(300, func(i int) []any { return []any{i, strings.Repeat("x", 1000)} })
	n, err := db.Load(t.Context(), "put c {n: $1, s: $2}", rows)
	require.NoError(t, err)
	require.Equal(t, 300, n)
	require.Equal(t, 300, count(t, db))

	n, err = db.Load(t.Context(), "put c {n: $1, s: $2}", rowsOf(300, func(i int) []any {
		return []any{i, strings.Repeat("x", 1+i/200*100_000)}
	}))
	require.ErrorIs(t, err, fenec.ErrBlockTooLarge)
	var row *fenec.BatchError
	require.ErrorAs(t, err, &row)
	require.Equal(t, 200, row.At)
	require.Equal(t, n, row.Completed)
	require.Equal(t, 300+n, count(t, db))
}

// TestLoadRowsUseTheDatabase reads and writes while rows are asked for.
func TestLoadRowsUseTheDatabase(t *testing.T) {
	db := memory(t, "create collection c (n int)", "create collection d (n int)")
	n, err := db.Load(t.Context(), "put c {n: $1}", rowsOf(inBlock+1, func(i int) []any {
		runAll(t, db, "put d {n: 1}")
		require.Equal(t, i/inBlock*inBlock, count(t, db))
		return []any{i}
	}))
	require.NoError(t, err)
	require.Equal(t, inBlock+1, n)
	require.Equal(t, n, query(t, db, "get d").Len())
}

func TestSessionLoad(t *testing.T) {
	db := memory(t, "create collection c (n int, owner text)", "create collection d (n int)")
	policy, err := fenec.NewPolicy(fenec.Access{Collections: map[string]fenec.Grants{"c": {
		Read: "owner = $1", Insert: "owner = $1 and n < 600", Fill: map[string]string{"owner": "$1"},
	}}})
	require.NoError(t, err)
	s, err := db.Session(policy, "ada")
	require.NoError(t, err)
	n, err := s.Load(t.Context(), "put c {n: $1}", numbers(1000))
	require.ErrorIs(t, err, fenec.ErrDenied)
	require.ErrorContains(t, err, "statement 601 ")
	require.Equal(t, inBlock, n)
	require.Equal(t, n, query(t, db, `get c where owner = "ada"`).Len())

	_, err = s.Load(t.Context(), "put c {id: $1, n: 1}", numbers(2))
	require.ErrorIs(t, err, fenec.ErrDenied)
	_, err = s.Load(t.Context(), "put d {n: $1}", numbers(1))
	require.ErrorIs(t, err, fenec.ErrNotFound)
	policy, err = fenec.NewPolicy(fenec.Access{Others: fenec.Grants{Read: "true", Insert: "true"}, ReadOnly: true})
	require.NoError(t, err)
	s, err = db.Session(policy)
	require.NoError(t, err)
	_, err = s.Load(t.Context(), "put d {n: $1}", numbers(1))
	require.ErrorIs(t, err, fenec.ErrReadOnly)
}

// TestLoadIsKept opens again what was loaded under each policy.
func TestLoadIsKept(t *testing.T) {
	for _, sync := range []fenec.Sync{fenec.SyncAlways, fenec.SyncOff} {
		path := filepath.Join(t.TempDir(), "db")
		opts := fenec.Options{Sync: sync, NoCheckpoint: true}
		db, err := fenec.Open(path, opts)
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int, e vector<2, f16> @hnsw)")
		n, err := db.Load(t.Context(), "put c {n: $1, e: $2}", rowsOf(inBlock+9, func(i int) []any {
			return []any{i, []float32{float32(i), 1}}
		}))
		require.NoError(t, err)
		changes, _, err := db.Changes(t.Context(), 1, 2*n)
		require.NoError(t, err)
		require.Len(t, changes, n)
		want := body(t, db, "get c order id")
		require.NoError(t, db.Close())

		db, err = fenec.Open(path, opts)
		require.NoError(t, err)
		require.Equal(t, n, count(t, db))
		require.Equal(t, want, body(t, db, "get c order id"))
		require.NoError(t, db.Close())
		require.NoError(t, fenec.Check(path))
	}
}

// BenchmarkLoad writes rows of an int and a vector of 128 components to a file.
func BenchmarkLoad(b *testing.B) {
	const rows, dim = 20_000, 128
	vectors := make([][]float32, rows)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32((i*31+j*17)%255-127) / 128
		}
	}
	ways := []struct {
		name string
		run  func(*fenec.DB) error
	}{
		{"load", func(db *fenec.DB) error {
			_, err := db.Load(ctx, `put c {n: $1, e: $2}`, func(yield func([]any, error) bool) {
				for i, v := range vectors {
					if !yield([]any{i, v}, nil) {
						return
					}
				}
			})
			return err
		}},
		{"put", func(db *fenec.DB) error {
			put, err := db.Prepare(`put c {n: $1, e: $2}`)
			for i := 0; i < rows && err == nil; i++ {
				_, err = put.Exec(ctx, i, vectors[i])
			}
			return err
		}},
		{"list", func(db *fenec.DB) error {
			docs := make([]any, rows)
			for i, v := range vectors {
				docs[i] = map[string]any{"n": i, "e": v}
			}
			_, err := db.Exec(ctx, `put c $1`, docs)
			return err
		}},
		{"batch", func(db *fenec.DB) error {
			stmts := make([]fenec.Statement, rows)
			for i, v := range vectors {
				stmts[i] = fenec.Statement{Text: `put c {n: $1, e: $2}`, Args: []any{i, v}}
			}
			_, err := db.Batch(ctx, stmts)
			return err
		}},
	}
	for _, way := range ways {
		b.Run("by="+way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				db, err := fenec.Open(filepath.Join(b.TempDir(), "db"), fenec.Options{FrontBytes: 1 << 30})
				require.NoError(b, err)
				runAll(b, db, "create collection c (n int, e vector<128>)")
				b.StartTimer()
				err = way.run(db)
				b.StopTimer()
				require.NoError(b, err)
				require.NoError(b, db.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
