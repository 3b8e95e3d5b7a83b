package fenec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

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
	test(refuses[struct{ X int }]("i"))
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
	require.ErrorContains(t, err, `column "s": type error: text does not fit Go type int`)
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
