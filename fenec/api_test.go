package fenec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// memory opens a database in memory in which the statements have been run.
func memory(t testing.TB, statements ...string) *fenec.DB {
	t.Helper()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	runAll(t, db, statements...)
	return db
}

func runAll(t testing.TB, db *fenec.DB, statements ...string) {
	t.Helper()
	for _, st := range statements {
		_, err := db.Query(t.Context(), st)
		require.NoError(t, err, st)
	}
}

func query(t testing.TB, db *fenec.DB, text string, args ...any) *fenec.Result {
	t.Helper()
	res, err := db.Query(t.Context(), text, args...)
	require.NoError(t, err, text)
	return res
}

// body returns a statement's answer as servers give it.
func body(t testing.TB, db *fenec.DB, text string, args ...any) string {
	t.Helper()
	b, err := query(t, db, text, args...).AppendJSON(nil)
	require.NoError(t, err)
	return string(b)
}

// everyType is a collection with a field of every type, and a document in it.
var everyType = []string{
	`create collection every (b bool, i int, f float, s text, y bytes, t timestamp, v vector<2>, h vector<2, f16>,
		ints [int], texts [text], j json, none int)`,
	`put every {b: true, i: 42, f: 2.5, s: "héllo", y: "raw", t: "2026-01-02T03:04:05.678Z", v: [1, 0.5], h: [1, 2],
		ints: [3, 4], texts: ["a", null], j: {n: 1, list: [true, "x"], o: {k: null}}}`,
}

var everyTime = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func scanOne[T any](t *testing.T, db *fenec.DB, column string) (dest T, err error) {
	t.Helper()
	res := query(t, db, "get every select "+column)
	require.True(t, res.Next())
	err = res.Scan(&dest)
	return dest, err
}

func scans[T any](column string, want T) (string, func(*testing.T, *fenec.DB)) {
	return fmt.Sprintf("%s into %T", column, &want), func(t *testing.T, db *fenec.DB) {
		got, err := scanOne[T](t, db, column)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func refuses[T any](column string) (string, func(*testing.T, *fenec.DB)) {
	return fmt.Sprintf("%s not into %T", column, new(T)), func(t *testing.T, db *fenec.DB) {
		got, err := scanOne[T](t, db, column)
		require.ErrorIs(t, err, fenec.ErrType)
		require.ErrorContains(t, err, `column "`+column+`"`)
		require.Zero(t, got)
	}
}

func ptr[T any](v T) *T { return &v }

func TestScan(t *testing.T) {
	type named string
	type names []named
	db := memory(t, everyType...)
	test := func(name string, fn func(*testing.T, *fenec.DB)) {
		t.Run(name, func(t *testing.T) { fn(t, db) })
	}
	test(scans("id", int64(1)))
	test(scans("id", uint8(1)))
	test(scans("b", true))
	test(scans("i", int64(42)))
	test(scans("i", int8(42)))
	test(scans("i", uint64(42)))
	test(scans("i", 42.0))
	test(scans("f", 2.5))
	test(scans("f", float32(2.5)))
	test(scans("s", "héllo"))
	test(scans("s", named("héllo")))
	test(scans("y", []byte("raw")))
	test(scans("y", json.RawMessage("raw")))
	test(scans("t", everyTime))
	test(scans("v", []float32{1, 0.5}))
	test(scans("v", []float64{1, 0.5}))
	test(scans("h", []float32{1, 2}))
	test(scans("ints", []int64{3, 4}))
	test(scans("ints", []uint8{3, 4}))
	test(scans("texts", []*string{ptr("a"), nil}))
	test(scans("texts", []any{"a", nil}))
	test(scans("j", map[string]any{"n": int64(1), "list": []any{true, "x"}, "o": map[string]any{"k": nil}}))

	// Pointers, and null.
	test(scans("i", ptr(42)))
	test(scans("i", ptr(ptr(42))))
	test(scans[*int]("none", nil))
	test(scans[*time.Time]("none", nil))
	test(scans[[]string]("none", nil))
	test(scans[map[string]any]("none", nil))
	test(scans[any]("none", nil))

	// Anything goes into an any.
	test(scans[any]("b", true))
	test(scans[any]("i", int64(42)))
	test(scans[any]("f", 2.5))
	test(scans[any]("s", "héllo"))
	test(scans[any]("y", []byte("raw")))
	test(scans[any]("t", everyTime))
	test(scans[any]("v", []float32{1, 0.5}))
	test(scans[any]("ints", []any{int64(3), int64(4)}))
	test(scans[fmt.Stringer]("t", everyTime))

	// What does not fit is refused and changes nothing.
	test(refuses[int]("b"))
	test(refuses[int]("s"))
	test(refuses[int]("f"))
	test(refuses[int]("t"))
	test(refuses[int]("none"))
	test(refuses[string]("none"))
	test(refuses[time.Time]("none"))
	test(refuses[bool]("i"))
	test(refuses[string]("i"))
	test(refuses[string]("t"))
	test(refuses[float64]("t"))
	test(refuses[float64]("s"))
	test(refuses[time.Time]("i"))
	test(refuses[time.Time]("s"))
	test(refuses[[]int]("texts"))
	test(refuses[[]string]("texts")) // one of them is null
	test(refuses[[]int]("v"))
	test(refuses[[]string]("s"))
	test(refuses[names]("ints"))
	test(refuses[map[string]string]("j"))
	test(refuses[map[int]any]("j"))
	test(refuses[fmt.Stringer]("i"))
	test(refuses[chan int]("i"))
	test(refuses[struct{ X int }]("j"))
}

func TestScanOutOfRange(t *testing.T) {
	db := memory(t, "create collection every (i int, f float)", "put every {i: -129, f: 1e300}")
	test := func(name string, fn func(*testing.T, *fenec.DB)) {
		t.Run(name, func(t *testing.T) { fn(t, db) })
	}
	test(scans("i", int16(-129)))
	test(refuses[int8]("i"))
	test(refuses[uint]("i"))
	test(scans("f", 1e300))
	test(refuses[float32]("f"))
}

func TestScanWrongDestinations(t *testing.T) {
	db := memory(t, everyType...)
	res := query(t, db, "get every select i, s")
	var i int
	require.ErrorContains(t, res.Scan(&i, new(string)), "Next")
	_, err := res.Row().Value(0)
	require.ErrorContains(t, err, "Next")
	require.True(t, res.Next())
	require.ErrorContains(t, res.Scan(&i), "1 destinations for 2 columns")
	require.ErrorContains(t, res.Scan(), "0 destinations for 2 columns")
	require.ErrorContains(t, res.Scan(&i, "x"), `column "s" is a string, want a pointer`)
	require.ErrorContains(t, res.Scan(nil, new(string)), `column "i" is a <nil>`)
	require.ErrorContains(t, res.Scan((*int)(nil), new(string)), `column "i" is a *int`)
	require.NoError(t, res.Scan(&i, new(string)))
	require.False(t, res.Next())
	require.False(t, res.Next())

	var s struct{ I int }
	for _, dest := range []any{nil, s, &i, (*struct{ I int })(nil)} {
		require.ErrorContains(t, res.Row().ScanStruct(dest), "want a pointer to a struct")
	}
	for _, column := range []int{-1, 2} {
		_, err := res.Row().Value(column)
		require.ErrorContains(t, err, fmt.Sprintf("column %d of 2", column))
	}
}

func TestCollect(t *testing.T) {
	type text string
	type row struct {
		ID      uint64
		Title   string `fenec:"s"`
		I       int
		F       *float64
		None    *int
		T       time.Time
		V       []float32
		J       map[string]any
		B       bool `fenec:"-"`
		Texts   []*text
		y       []byte
		Unknown string
	}
	db := memory(t, everyType...)
	runAll(t, db, `put every {s: "", i: 0, t: 0}`)
	got, err := fenec.Collect[row](query(t, db, "get every"))
	require.NoError(t, err)
	require.Equal(t, []row{
		{ID: 1, Title: "héllo", I: 42, F: ptr(2.5), T: everyTime, V: []float32{1, 0.5},
			J:     map[string]any{"n": int64(1), "list": []any{true, "x"}, "o": map[string]any{"k": nil}},
			Texts: []*text{ptr(text("a")), nil}},
		{ID: 2, T: time.UnixMilli(0).UTC()},
	}, got)
	require.Nil(t, got[0].y)

	none, err := fenec.Collect[row](query(t, db, "get every limit 0"))
	require.NoError(t, err)
	require.NotNil(t, none)
	require.Empty(t, none)

	_, err = fenec.Collect[struct{ S int }](query(t, db, "get every"))
	require.ErrorIs(t, err, fenec.ErrType)
	require.ErrorContains(t, err, `column "s": type error: text does not fit a int`)
	_, err = fenec.Collect[int](query(t, db, "get every"))
	require.ErrorContains(t, err, "want a pointer to a struct")

	// A tag comes before a name, and the first name before the second.
	both, err := fenec.Collect[struct {
		S     string
		Tag   string `fenec:"s"`
		I, II int
	}](query(t, db, "get every limit 1"))
	require.NoError(t, err)
	require.Equal(t, "", both[0].S)
	require.Equal(t, "héllo", both[0].Tag)
	require.Equal(t, 42, both[0].I)
}

func TestRowByName(t *testing.T) {
	db := memory(t, everyType...)
	for row := range query(t, db, "get every").All() {
		n, err := row.Int("i")
		require.NoError(t, err)
		require.EqualValues(t, 42, n)
		f, err := row.Float("f")
		require.NoError(t, err)
		require.Equal(t, 2.5, f)
		f, err = row.Float("i")
		require.NoError(t, err)
		require.Equal(t, 42.0, f)
		s, err := row.Text("s")
		require.NoError(t, err)
		require.Equal(t, "héllo", s)
		b, err := row.Bool("b")
		require.NoError(t, err)
		require.True(t, b)
		at, err := row.Time("t")
		require.NoError(t, err)
		require.Equal(t, everyTime, at)
		v, err := row.Vector("v")
		require.NoError(t, err)
		require.Equal(t, []float32{1, 0.5}, v)
		x, err := row.Get("none")
		require.NoError(t, err)
		require.Nil(t, x)

		_, err = row.Int("s")
		require.ErrorIs(t, err, fenec.ErrType)
		_, err = row.Int("none")
		require.ErrorIs(t, err, fenec.ErrType)
		_, err = row.Text("missing")
		require.ErrorContains(t, err, `no column "missing"`)
		_, err = row.Get("missing")
		require.ErrorContains(t, err, `no column "missing"`)
	}
}

// What a result gives out is the caller's.
func TestValuesAreCopies(t *testing.T) {
	db := memory(t, everyType...)
	res := query(t, db, "get every select v, y, ints, j")
	require.True(t, res.Next())
	before, err := res.AppendJSON(nil)
	require.NoError(t, err)
	var v []float32
	var y []byte
	var ints []any
	var j map[string]any
	require.NoError(t, res.Scan(&v, &y, &ints, &j))
	v[0], y[0], ints[0] = 9, 'X', nil
	delete(j, "n")
	res.Columns()[0] = "changed"
	again, err := res.AppendJSON(nil)
	require.NoError(t, err)
	require.Equal(t, string(before), string(again))
	require.Equal(t, string(before), body(t, db, "get every select v, y, ints, j"))
}

func TestIteration(t *testing.T) {
	db := memory(t, "create collection c (n int)", "put c {n: 10} {n: 20} {n: 30}")
	res := query(t, db, "get c")
	require.Equal(t, fenec.KindRows, res.Kind())
	require.Equal(t, 3, res.Len())
	require.False(t, res.Wrote())
	var seen []int64
	for res.Next() {
		var id, n int64
		require.NoError(t, res.Scan(&id, &n))
		seen = append(seen, id, n)
		for row := range res.All() { // moves nothing
			first, err := row.Int("n")
			require.NoError(t, err)
			require.EqualValues(t, 10, first)
			break
		}
	}
	require.Equal(t, []int64{1, 10, 2, 20, 3, 30}, seen)

	for _, text := range []string{"put c {n: 1}", "drop collection c", "collections"} {
		res := query(t, db, text)
		require.Zero(t, res.Len())
		require.False(t, res.Next())
		require.Empty(t, res.Columns())
		for range res.All() {
			t.Fatal("a row of " + text)
		}
	}
}

func TestColumns(t *testing.T) {
	db := memory(t, "create collection c (n int, s text, j json)", "put c {n: 1}")
	for text, want := range map[string]string{
		"get c":                             "id n s j",
		"get c limit 0":                     "id n s j",
		"get c select *":                    "id n s j",
		"select s, id from c":               "s id",
		"get c select n + 1 as next, j.a.b": "next j.a.b",
		"get c count":                       "count",
		"explain get c":                     "plan",
	} {
		require.Equal(t, want, strings.Join(query(t, db, text).Columns(), " "), text)
	}
}

func TestAppendJSON(t *testing.T) {
	db := memory(t, everyType...)
	for _, tc := range []struct{ text, single, batch string }{
		{"get every",
			`[{"id":1,"b":true,"i":42,"f":2.5,"s":"héllo","y":[114,97,119],"t":"2026-01-02T03:04:05.678Z",` +
				`"v":[1,0.5],"h":[1,2],"ints":[3,4],"texts":["a",null],"j":{"list":[true,"x"],"n":1,"o":{"k":null}},"none":null}]`, "rows"},
		{"get every where i = 0", `[]`, "rows"},
		{"get every count", `[{"count":1}]`, "rows"},
		{`get every select "<&>\"\\\n\0" as s, -0.0 as zero, 1e21 as big, null as nothing`,
			`[{"s":"<&>\"\\\n\u0000","zero":0,"big":1000000000000000000000,"nothing":null}]`, "rows"},
		{"set every {i: 43}", `{"affected":1}`, ""},
		{"del every where i = 0", `{"affected":0}`, ""},
		{"create collection c (n int required, v vector<3, f16>, l [text] @hash)", `{"message":"collection c created"}`, ""},
		{"create collection if not exists c (n int)", `{"message":"collection c is there already"}`, ""},
		{"describe c", `[{"name":"c","fields":[{"name":"n","type":"int","index":null,"required":true},` +
			`{"name":"v","type":"vector<3, f16>","index":null,"required":false},` +
			`{"name":"l","type":"[text]","index":"hash","required":false}]}]`, "collections"},
		{"drop collection if exists d", `{"message":"there is no collection d"}`, ""},
		{"drop collection c", `{"message":"collection c dropped"}`, ""},
	} {
		res := query(t, db, tc.text)
		single, err := res.AppendJSON([]byte("before "))
		require.NoError(t, err)
		require.Equal(t, "before "+tc.single, string(single), tc.text)
		require.True(t, json.Valid(single[len("before "):]))
		batch, err := res.AppendBatchJSON([]byte("before "))
		require.NoError(t, err)
		want := tc.single
		if tc.batch != "" {
			want = `{"` + tc.batch + `":` + want + `}`
		}
		require.Equal(t, "before "+want, string(batch), tc.text)
	}
	require.JSONEq(t, `{"message":"compacted"}`, body(t, db, "compact"))
}

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
			require.Equal(t, fmt.Sprintf("statement %d: %v", tc.at, be.Err), err.Error())
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

func TestOptions(t *testing.T) {
	for name, opts := range map[string]fenec.Options{
		"Sync":            {Sync: -3},
		"FrontBytes":      {FrontBytes: -1},
		"BlockBytes":      {BlockBytes: 256<<20 + 1},
		"SnapshotTimeout": {SnapshotTimeout: -1},
		"IdleCheckpoint":  {IdleCheckpoint: -1},
		"CompactRatio":    {CompactRatio: math.NaN()},
	} {
		path := filepath.Join(t.TempDir(), "db")
		_, err := fenec.Open(path, opts)
		require.ErrorContains(t, err, "options: "+name)
		require.NoFileExists(t, path)
		_, err = fenec.OpenMemory(opts)
		require.ErrorContains(t, err, "options: "+name)
	}
	for _, opts := range []fenec.Options{
		{Sync: fenec.SyncAlways}, {Sync: fenec.SyncOff}, {Sync: fenec.Sync(time.Millisecond)},
		{FrontBytes: 1}, {BlockBytes: 256 << 20, CompactRatio: -1},
	} {
		db, err := fenec.Open(filepath.Join(t.TempDir(), "db"), opts)
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int)", "put c {n: 1}", "put c {n: 2}")
		require.NoError(t, db.Sync(t.Context()))
		st, err := db.Stats()
		require.NoError(t, err)
		require.EqualValues(t, 3, st.SyncedSeq)
		require.NoError(t, db.Close())
	}
}

func TestParseSync(t *testing.T) {
	for text, want := range map[string]fenec.Sync{
		"always": fenec.SyncAlways, "on": fenec.SyncAlways, "Always": fenec.SyncAlways, "ON": fenec.SyncAlways,
		"off": fenec.SyncOff, "none": fenec.SyncOff, "OFF": fenec.SyncOff,
		"1": fenec.Sync(time.Millisecond), "250": fenec.Sync(250 * time.Millisecond),
		"2147483647": fenec.Sync(2147483647 * time.Millisecond),
	} {
		got, err := fenec.ParseSync(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := fenec.ParseSync(got.String())
		require.NoError(t, err, text)
		require.Equal(t, got, again)
	}
	for _, text := range []string{"", "0", "-1", "1.5", "250ms", "sometimes", "2147483648", "always ", "+1"} {
		_, err := fenec.ParseSync(text)
		require.ErrorContains(t, err, fmt.Sprintf("%q", text))
	}
	require.Equal(t, "250", fenec.SyncDefault.String())
}

func TestClosed(t *testing.T) {
	for _, opts := range []fenec.Options{{}, {NoCheckpoint: true}} {
		path := filepath.Join(t.TempDir(), "db")
		db, err := fenec.Open(path, opts)
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int)", "put c {n: 1}")
		get, err := db.Prepare("get c")
		require.NoError(t, err)
		put, err := db.Prepare("put c {n: 1}")
		require.NoError(t, err)
		res := query(t, db, "get c")
		require.NoError(t, db.Close())
		b, err := res.AppendJSON(nil)
		require.NoError(t, err)
		require.Equal(t, `[{"id":1,"n":1}]`, string(b), "a result needs no open database")
		ctx := t.Context()
		for name, call := range map[string]func() error{
			"Query of a read":  func() error { _, err := db.Query(ctx, "get c"); return err },
			"Query of a write": func() error { _, err := db.Query(ctx, "put c {n: 1}"); return err },
			"Query of compact": func() error { _, err := db.Query(ctx, "compact"); return err },
			"Exec":             func() error { _, err := db.Exec(ctx, "drop collection c"); return err },
			"Stmt.Query":       func() error { _, err := get.Query(ctx); return err },
			"Stmt.Exec":        func() error { _, err := put.Exec(ctx); return err },
			"Batch of reads":   func() error { _, err := db.Batch(ctx, []fenec.Statement{{Text: "get c"}}); return err },
			"Batch of writes":  func() error { _, err := db.Batch(ctx, []fenec.Statement{{Text: "del c"}}); return err },
			"View":             func() error { return db.View(ctx, func(*fenec.Snapshot) error { return nil }) },
			"Stats":            func() error { _, err := db.Stats(); return err },
			"Sync":             func() error { return db.Sync(ctx) },
			"Checkpoint":       func() error { return db.Checkpoint(ctx) },
			"Compact":          func() error { return db.Compact(ctx) },
			"Image":            func() error { return db.Image(ctx, io.Discard) },
			"OpenImage":        func() error { _, err := db.OpenImage(ctx); return err },
		} {
			require.ErrorIs(t, call(), fenec.ErrClosed, name)
		}
		require.NoError(t, db.Close(), "closing again does nothing")
		require.Equal(t, path, db.Path())
		require.EqualValues(t, 2, db.Seq())
		require.NoError(t, fenec.Check(path))
	}
}

// Whatever runs when a database is closed comes to an end, with or without
// ErrClosed, and what was answered is there afterwards.
func TestCloseBesideEverything(t *testing.T) {
	for round := range 8 {
		path := filepath.Join(t.TempDir(), "db")
		db, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncOff, FrontBytes: 64 << 10, NoCheckpoint: round%2 == 0})
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int @sorted, s text)")
		_, err = db.Exec(t.Context(), "put c $1", documents(200))
		require.NoError(t, err)
		ctx := t.Context()
		var answered atomic.Int64
		calls := []func() error{
			func() error { _, err := db.Query(ctx, "get c order n limit 50"); return err },
			func() error {
				_, err := db.Exec(ctx, "put c {n: 1, s: $1}", strings.Repeat("x", 500))
				if err == nil {
					answered.Add(1)
				}
				return err
			},
			func() error {
				return db.View(ctx, func(sn *fenec.Snapshot) error { _, err := seen(ctx, sn); return err })
			},
			func() error { return db.Checkpoint(ctx) },
			func() error { return db.Compact(ctx) },
			func() error { return db.Image(ctx, io.Discard) },
			func() error { _, err := db.Stats(); return err },
			func() error { return db.Sync(ctx) },
		}
		errs := make(chan error, len(calls))
		var begun sync.WaitGroup
		for _, call := range calls {
			begun.Add(1)
			go func() {
				err := call()
				begun.Done()
				for err == nil || errors.Is(err, fenec.ErrSnapshotTooOld) {
					err = call()
				}
				errs <- err
			}()
		}
		begun.Wait()
		require.NoError(t, db.Close())
		for range calls {
			require.ErrorIs(t, <-errs, fenec.ErrClosed)
		}
		require.NoError(t, fenec.Check(path))
		db, err = fenec.Open(path, fenec.Options{})
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf(`[{"count":%d}]`, 200+answered.Load()), body(t, db, "get c count"))
		require.EqualValues(t, 201+answered.Load(), db.Seq())
		require.NoError(t, db.Close())
	}
}

func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, "create collection c (n int)")
	for name, call := range map[string]func() error{
		"Open":   func() error { _, err := fenec.Open(path, fenec.Options{}); return err },
		"Check":  func() error { return fenec.Check(path) },
		"Remove": func() error { return fenec.Remove(path) },
	} {
		err := call()
		require.ErrorIs(t, err, fenec.ErrInUse, name)
		require.ErrorContains(t, err, path, name)
	}
	_, err = fenec.Open(path, fenec.Options{})
	require.ErrorContains(t, err, fmt.Sprintf("held by process %d", os.Getpid()))
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, db.Collections())
	require.NoError(t, db.Close())
}

func TestMustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	_, err := fenec.Open(path, fenec.Options{MustExist: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, fenec.Options{MustExist: true})
	require.NoError(t, err)
	require.NoError(t, db.Close())

	_, err = fenec.Open(filepath.Join(path, "under", "a", "file"), fenec.Options{})
	require.Error(t, err)
	_, err = fenec.Open(t.TempDir(), fenec.Options{})
	require.Error(t, err, "a directory")
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, err = fenec.Open(text, fenec.Options{})
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	require.ErrorContains(t, err, text)
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	require.ErrorIs(t, fenec.Remove(path), fs.ErrNotExist)
	for _, err := range []error{fenec.Remove(""), fenec.Check(""), fenec.Install("", strings.NewReader("FENECIMG"))} {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	db, err := fenec.Open(path, fenec.Options{NoCheckpoint: true})
	require.NoError(t, err)
	runAll(t, db, "create collection c (n int)", "put c {n: 1}")
	require.NoError(t, db.Close())
	other := filepath.Join(dir, "db2")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, fenec.Remove(path))
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{other}, left)

	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.Empty(t, db.Collections())
	require.Zero(t, db.Seq())
	require.NoError(t, db.Close())
}

func TestMemory(t *testing.T) {
	a, err := fenec.Open("", fenec.Options{})
	require.NoError(t, err)
	b := memory(t)
	runAll(t, a, "create collection c (n int)", "put c {n: 1}")
	require.Empty(t, b.Collections())
	require.Empty(t, a.Path())
	require.NoError(t, a.Checkpoint(t.Context()))
	require.NoError(t, a.Compact(t.Context()))
	require.NoError(t, a.Sync(t.Context()))
	st, err := a.Stats()
	require.NoError(t, err)
	require.EqualValues(t, 2, st.SyncedSeq)
	require.Equal(t, `[{"id":1,"n":1}]`, body(t, a, "get c"))

	// What is in memory can be carried to a file.
	var image bytes.Buffer
	require.NoError(t, a.Image(t.Context(), &image))
	require.NoError(t, a.Close())
	path := filepath.Join(t.TempDir(), "db")
	require.NoError(t, fenec.Install(path, &image))
	db, err := fenec.Open(path, fenec.Options{MustExist: true})
	require.NoError(t, err)
	require.Equal(t, `[{"id":1,"n":1}]`, body(t, db, "get c"))
	require.NoError(t, db.Close())
}

func TestImage(t *testing.T) {
	dir := t.TempDir()
	db, err := fenec.Open(filepath.Join(dir, "db"), fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, everyType...)
	want := body(t, db, "get every")

	m, err := db.OpenImage(t.Context())
	require.NoError(t, err)
	runAll(t, db, "del every", "create collection later (n int)")
	image, err := io.ReadAll(m)
	require.NoError(t, err)
	require.EqualValues(t, len(image), m.Size())
	require.EqualValues(t, 2, m.Seq())
	require.NoError(t, m.Close())

	path := filepath.Join(dir, "copy")
	require.NoError(t, fenec.Install(path, bytes.NewReader(image)))
	require.NoError(t, fenec.Check(path))
	require.ErrorIs(t, fenec.Install(path, bytes.NewReader(image)), fs.ErrExist)
	copied, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.Equal(t, want, body(t, copied, "get every"))
	require.EqualValues(t, 2, copied.Seq())
	require.NoError(t, copied.Close())
	require.NoError(t, db.Close())

	// Anything but the whole image leaves nothing behind.
	damaged := bytes.Clone(image)
	damaged[len(damaged)/2] ^= 1
	for name, bad := range map[string][]byte{
		"empty": nil, "cut short": image[:len(image)-1], "header only": image[:40], "damaged": damaged,
		"too long": append(bytes.Clone(image), 0), "none": bytes.Repeat([]byte("x"), 5000),
	} {
		path := filepath.Join(dir, "bad")
		require.ErrorIs(t, fenec.Install(path, bytes.NewReader(bad)), fenec.ErrImage, name)
		left, err := filepath.Glob(path + "*")
		require.NoError(t, err)
		require.Empty(t, left, name)
	}
	failing := errors.New("the line is gone")
	err = fenec.Install(filepath.Join(dir, "bad"), io.MultiReader(bytes.NewReader(image[:100]), errReader{failing}))
	require.ErrorIs(t, err, failing)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestCheckFindsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, "create collection c (s text @hash)", `put c {s: "a text that can be found in the file"}`)
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))

	file, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(file, []byte("a text that can be found"))
	require.Positive(t, at)
	for bytes.HasPrefix(file[at:], []byte("a text that can be found")) { // the row, and the index entry
		file[at] = 'A'
		at += 1 + max(0, bytes.Index(file[at+1:], []byte("a text that can be found")))
	}
	require.NoError(t, os.WriteFile(path, file, 0o600))
	err = fenec.Check(path)
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	require.ErrorContains(t, err, `collection "c"`)
	require.ErrorContains(t, err, path)

	// Reading says so too, and the rest goes on.
	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	_, err = db.Query(t.Context(), "get c")
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	require.ErrorContains(t, err, "id 1")
	runAll(t, db, "create collection d (n int)", "put d {n: 1}")
	require.NoError(t, db.Close())
	require.ErrorIs(t, fenec.Check(filepath.Join(t.TempDir(), "none")), fs.ErrNotExist)
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
				errs[i] = errors.Join(errs[i], err, err2, err3)
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, `[{"count":300}]`, body(t, db, "get c count"))
	require.EqualValues(t, 301, db.Seq())
}
