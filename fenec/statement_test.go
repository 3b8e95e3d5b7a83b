package fenec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

func TestExecCounts(t *testing.T) {
	db := memory(t, "create collection c (n int)")
	for _, tc := range []struct {
		text string
		want int
	}{
		{"put c {n: 1} {n: 2} {n: 3}", 3},
		{"put c {id: 1, n: 5}", 1},
		{"put c $1", 2},
		{"set c {n: 9} where id < 3", 2},
		{"set c {n: n}", 5},
		{"set c {n: 0} where id > 99", 0},
		{"del c limit 1", 1},
		{"get c", 0},
		{"create collection d (n int)", 0},
		{"drop collection d", 0},
		{"compact", 0},
		{"collections", 0},
		{"del c", 4},
	} {
		args := []any{[]any{map[string]any{"n": 1}, map[string]any{}}}
		n, err := db.Exec(t.Context(), tc.text, args...)
		require.NoError(t, err, tc.text)
		require.Equal(t, tc.want, n, tc.text)
	}
	n, err := db.Exec(t.Context(), "put nope {n: 1}")
	require.ErrorIs(t, err, fenec.ErrNotFound)
	require.Zero(t, n)
}

// Every Go value that stands for one of the database's.
func TestArguments(t *testing.T) {
	type level int
	type word string
	db := memory(t, "create collection c (x int)", "put c {x: 1}")
	for _, tc := range []struct {
		arg  any
		want string
	}{
		{nil, "null"}, {true, "true"}, {-7, "-7"}, {int8(-8), "-8"}, {uint64(9), "9"}, {level(3), "3"},
		{1.5, "1.5"}, {float32(0.25), "0.25"}, {"x", `"x"`}, {word("y"), `"y"`}, {[]byte{1, 255}, "[1,255]"},
		{everyTime.In(time.FixedZone("", 7200)), `"2026-01-02T03:04:05.678Z"`},
		{[]float32{0.1, 2}, "[0.1,2]"}, {[]float64{0.1}, "[0.1]"}, {[]string{"a"}, `["a"]`}, {[]any{}, "[]"},
		{[2]int{1, 2}, "[1,2]"}, {map[string]any{"b": 1, "a": nil}, `{"a":null,"b":1}`}, {map[word]int{"k": 1}, `{"k":1}`},
		{json.RawMessage(`{"z": 1, "a": [1.50, 9007199254740993]}`), `{"a":[1.5,9007199254740993],"z":1}`},
		{json.Number("12"), "12"}, {json.Number("1.25"), "1.25"}, {(*int)(nil), "null"}, {ptr(ptr("deep")), `"deep"`},
		{math.MaxInt64, "9223372036854775807"}, {math.Inf(1), "null"},
	} {
		require.Equal(t, `[{"x":`+tc.want+`}]`, body(t, db, "get c select $1 as x", tc.arg), "%T", tc.arg)
	}
}

func TestPrepareAcrossDropAndCreate(t *testing.T) {
	db := memory(t)
	put, err := db.Prepare("put c {a: $1}")
	require.NoError(t, err)
	get, err := db.Prepare("get c select a")
	require.NoError(t, err)
	_, err = get.Query(t.Context())
	require.ErrorIs(t, err, fenec.ErrNotFound)

	answer := func() string {
		res, err := get.Query(t.Context())
		require.NoError(t, err)
		b, err := res.AppendJSON(nil)
		require.NoError(t, err)
		return string(b)
	}
	runAll(t, db, "create collection c (a int)")
	n, err := put.Exec(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, `[{"a":1}]`, answer())

	// Anew, with the field in another place and of another type.
	runAll(t, db, "drop collection c", "create collection c (z bool, a text @unique)")
	require.Equal(t, `[]`, answer())
	_, err = put.Exec(t.Context(), 1)
	require.ErrorIs(t, err, fenec.ErrType)
	_, err = put.Exec(t.Context(), "one")
	require.NoError(t, err)
	_, err = put.Exec(t.Context(), "one")
	require.ErrorIs(t, err, fenec.ErrDuplicate)
	require.Equal(t, `[{"a":"one"}]`, answer())

	// Compiled for a collection that a batch made and did not keep.
	_, err = db.Batch(t.Context(), []fenec.Statement{
		{Text: "drop collection c"},
		{Text: "create collection c (a float, b int)"},
		{Text: "put c {a: 0.5}"},
		{Text: "put c {b: 1 / 0}"},
	})
	require.ErrorIs(t, err, fenec.ErrQuery)
	require.Equal(t, `[{"a":"one"}]`, answer())
	runAll(t, db, "drop collection c")
	_, err = put.Exec(t.Context(), "two")
	require.ErrorIs(t, err, fenec.ErrNotFound)
}

// A prepared statement is run by many while its collection is made anew again
// and again: each run meets the collection of one moment, with its documents.
func TestPrepareAcrossGoroutines(t *testing.T) {
	db := memory(t, "create collection c (a int)", "put c {a: -1}")
	get, err := db.Prepare("get c select a where a < $1")
	require.NoError(t, err)
	put, err := db.Prepare("put c {a: $1}")
	require.NoError(t, err)
	stop := make(chan struct{})
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() {
			var err error
			for i := 0; err == nil; i++ {
				select {
				case <-stop:
					errs <- nil
					return
				default:
					err = runBoth(t.Context(), put, get, i)
				}
			}
			errs <- err
		}()
	}
	for range 200 {
		_, err := db.Batch(t.Context(), []fenec.Statement{
			{Text: "drop collection c"}, {Text: "create collection c (b text, a int @sorted)"}, {Text: "put c {a: -1}"},
		})
		require.NoError(t, err)
	}
	close(stop)
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
}

func runBoth(ctx context.Context, put, get *fenec.Stmt, i int) error {
	if n, err := put.Exec(ctx, i); err != nil || n != 1 {
		return fmt.Errorf("put wrote %d: %w", n, err)
	}
	res, err := get.Query(ctx, 0)
	if err != nil {
		return err
	}
	if res.Len() != 1 {
		return fmt.Errorf("%d documents, want the one there always is", res.Len())
	}
	return nil
}

func TestBatch(t *testing.T) {
	db := memory(t, "create collection c (n int @unique)", "put c {n: 1}")
	results, err := db.Batch(t.Context(), []fenec.Statement{
		{Text: "put c {n: $1}", Args: []any{2}},
		{Text: "get c count"},
		{Text: "create collection d (x text)"},
		{Text: "put d {x: $1} {x: $2}", Args: []any{"a", "b"}},
		{Text: "get d select x order x desc"},
		{Text: "get c where n = 2"},
		{Text: "del c where n = 1"},
		{Text: "get c count"},
		{Text: "describe d"},
		{Text: "explain get d"},
	})
	require.NoError(t, err)
	var out []byte
	for _, res := range results {
		require.Equal(t, db.Seq(), res.Seq())
		out, err = res.AppendBatchJSON(append(out, '\n'))
		require.NoError(t, err)
	}
	require.Equal(t, `
{"affected":1}
{"rows":[{"count":2}]}
{"message":"collection d created"}
{"affected":2}
{"rows":[{"x":"b"},{"x":"a"}]}
{"rows":[{"id":2,"n":2}]}
{"affected":1}
{"rows":[{"count":1}]}
{"collections":[{"name":"d","fields":[{"name":"x","type":"text","index":null,"required":false}]}]}
{"rows":[{"plan":"filter: none"},{"plan":"order: by id, as the rows are"},{"plan":"rows: 2"}]}`, planless(string(out)))

	none, err := db.Batch(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

// planless puts fixed words in the place of what explain is free to say.
func planless(s string) string {
	i := strings.Index(s, `{"plan":"filter: `)
	if i < 0 {
		return s
	}
	return s[:i] + `{"plan":"filter: none"},{"plan":"order: by id, as the rows are"},` + s[strings.LastIndex(s, `{"plan":`):]
}

func TestBatchErrors(t *testing.T) {
	db := memory(t, "create collection c (n int @unique)", "put c {n: 1}")
	seq := db.Seq()
	for _, tc := range []struct {
		name  string
		stmts []string
		at    int
		want  error
	}{
		{"a read that fails", []string{"get c", "get nope"}, 1, fenec.ErrNotFound},
		{"a write that fails", []string{"put c {n: 2}", "put c {n: 2}"}, 1, fenec.ErrDuplicate},
		{"no statement", []string{"put c {n: 2}", "put c {n: 3}", "put"}, 2, fenec.ErrQuery},
		{"two in one", []string{"get c; get c"}, 0, fenec.ErrQuery},
		{"a parameter", []string{"put c {n: 2}", "put c {n: $1}"}, 1, fenec.ErrQuery},
		{"a compact", []string{"put c {n: 2}", "compact"}, 1, fenec.ErrQuery},
		{"a create", []string{"create collection d (a int)", "create collection d (a int)"}, 1, fenec.ErrExists},
		{"a drop", []string{"drop collection c", "put c {n: 1}"}, 1, fenec.ErrNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stmts []fenec.Statement
			for _, text := range tc.stmts {
				stmts = append(stmts, fenec.Statement{Text: text})
			}
			results, err := db.Batch(t.Context(), stmts)
			require.Nil(t, results)
			require.ErrorIs(t, err, tc.want)
			var be *fenec.BatchError
			require.ErrorAs(t, err, &be)
			require.Equal(t, tc.at, be.At)
			require.Zero(t, be.Completed)
			require.Equal(t, fmt.Sprintf("statement %d of the batch: %v", tc.at+1, be.Err), err.Error())
			require.Equal(t, be.Err, errors.Unwrap(err))
			require.Equal(t, seq, db.Seq())
			require.Equal(t, `[{"id":1,"n":1}]`, body(t, db, "get c"))
			require.Equal(t, []string{"c"}, db.Collections())
		})
	}
	_, err := db.Batch(t.Context(), []fenec.Statement{{Text: "get c"}, {Text: "put c {n: $1}", Args: []any{make(chan int)}}})
	var be *fenec.BatchError
	require.ErrorAs(t, err, &be)
	require.Equal(t, 1, be.At)
	require.ErrorIs(t, err, fenec.ErrType)
}

func TestConcurrentUse(t *testing.T) {
	db := memory(t, "create collection c (n int @sorted)")
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wg.Go(func() {
			for n := range 50 {
				_, err := db.Exec(t.Context(), "put c {n: $1}", 100*i+n)
				_, err2 := db.Query(t.Context(), "get c where n >= $1 count", 100*i)
				_, err3 := db.Stats()
				res, err4 := db.Query(t.Context(), "set c {n: 0} where n = -1") // changes nothing
				if err4 == nil && res.Seq() > db.Seq() {
					err4 = fmt.Errorf("a write at %d", res.Seq())
				}
				errs[i] = errors.Join(errs[i], err, err2, err3, err4)
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, `[{"count":300}]`, body(t, db, "get c count"))
	require.EqualValues(t, 301, db.Seq())
}
