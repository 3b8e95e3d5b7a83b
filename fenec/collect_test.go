package fenec_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

type (
	Meta struct {
		By      string `fenec:"author"`
		Written time.Time
	}
	Extra struct {
		Note  string
		Level *int
	}
	part struct {
		Name  string
		Sizes []float32
		When  *time.Time
		Sub   *part
		Max   int `fenec:"upTo,omitempty"`
	}
	label string

	// paper has a field of every kind that documents are made of.
	paper struct {
		ID int64 `fenec:"id,omitempty"`
		Meta
		*Extra
		B     bool
		I     int32
		U     uint16
		F     float64
		Small float32
		S     string
		L     label
		Y     []byte
		Key   [4]byte
		T     time.Time `fenec:"at"`
		V     []float32
		H     []float64 `fenec:"half"`
		Ints  []int
		Pair  [2]int
		Texts []*string
		P     *string
		J     map[string]any
		Raw   json.RawMessage
		Any   any
		Part  part
		Parts []part `fenec:"parts"`
		Opt   int    `fenec:"opt,omitempty"`
		Skip  int    `fenec:"-"`
	}
)

const papers = `create collection papers (author text, written timestamp, note text, level int, b bool, i int, u int,
	f float, small float, s text, l text, y bytes, key bytes, at timestamp, v vector<2>, half vector<2, f16>, ints [int],
	pair [int], texts [text], p text, j json, raw json, any json, part json, parts json, opt int)`

// Whatever a struct holds, it holds again after it was put and collected.
func TestStructsRoundTrip(t *testing.T) {
	db := memory(t, papers)
	r := rand.New(rand.NewPCG(1, 2))
	var want []paper
	for round := range 100 {
		docs := make([]paper, 1+r.IntN(3))
		for i := range docs {
			docs[i] = randomPaper(r)
		}
		var arg any = docs
		switch round % 3 {
		case 1:
			pointers := make([]*paper, len(docs))
			for i := range docs {
				pointers[i] = &docs[i]
			}
			arg = pointers
		case 2:
			docs = docs[:1]
			arg = &docs[0]
		}
		n, err := db.Exec(t.Context(), "put papers $1", arg)
		require.NoError(t, err)
		require.Equal(t, len(docs), n)
		for _, d := range docs {
			d.ID = int64(len(want) + 1)
			want = append(want, d)
		}
	}
	got, err := fenec.Collect[paper](query(t, db, "get papers"))
	require.NoError(t, err)
	require.Equal(t, want, got)

	// Put again under their ids they change nothing.
	before := body(t, db, "get papers")
	n, err := db.Exec(t.Context(), "put papers $1", got)
	require.NoError(t, err)
	require.Equal(t, len(got), n)
	require.Equal(t, before, body(t, db, "get papers"))
}

func randomPaper(r *rand.Rand) paper {
	p := paper{
		Meta:  Meta{word(r), instant(r)},
		B:     r.IntN(2) == 0,
		I:     int32(r.Uint32()),
		U:     uint16(r.Uint32()),
		F:     r.NormFloat64(),
		Small: float32(r.NormFloat64()),
		S:     word(r),
		L:     label(word(r)),
		Y:     some(r, []byte{}, []byte(word(r))),
		Key:   [4]byte{byte(r.Uint32()), 0, 255},
		T:     instant(r),
		V:     some(r, []float32{r.Float32(), -0.5}),
		H:     some(r, []float64{0.25, float64(r.IntN(100))}),
		Ints:  some(r, []int{}, []int{r.Int(), -1}),
		Pair:  [2]int{r.IntN(9), -r.IntN(9)},
		Texts: some(r, []*string{}, []*string{ptr(word(r)), nil}),
		P:     some(r, ptr(word(r))),
		J:     some(r, map[string]any{}, map[string]any{"n": int64(r.IntN(9)), "x": 0.5, "l": []any{word(r), nil, true}}),
		Raw:   some(r, json.RawMessage(`{"a":[1,2.5,"x"],"b":null}`), json.RawMessage("7")),
		Any:   some[any](r, word(r), int64(7), []any{false}),
		Part:  randomPart(r),
		Opt:   r.IntN(2),
	}
	if r.IntN(2) == 0 {
		p.Extra = &Extra{word(r), some(r, ptr(r.IntN(9)))}
	}
	for range r.IntN(3) {
		p.Parts = append(p.Parts, randomPart(r))
	}
	return p
}

func randomPart(r *rand.Rand) part {
	p := part{Name: word(r), Sizes: some(r, []float32{r.Float32()}), When: some(r, ptr(instant(r))), Max: r.IntN(2)}
	if r.IntN(3) == 0 {
		p.Sub = ptr(randomPart(r))
	}
	return p
}

// some returns one of the values, or the zero value.
func some[T any](r *rand.Rand, values ...T) (v T) {
	if i := r.IntN(len(values) + 1); i < len(values) {
		v = values[i]
	}
	return v
}

func word(r *rand.Rand) string {
	return string([]rune("aşİ\"\x00😀 z")[:r.IntN(9)])
}

func instant(r *rand.Rand) time.Time { return time.UnixMilli(r.Int64N(4e12) - 2e12).UTC() }

// Which field takes a column.
func TestScanStructEmbedded(t *testing.T) {
	type Inner struct {
		N     int
		Title string `fenec:"s"`
		Deep  int
	}
	type Mid struct {
		Inner
		Deep int
	}
	type hidden struct{ F float64 }
	db := memory(t, "create collection c (n int, s text, f float, deep int)", `put c [{n: 1, s: "x", f: 2.5, deep: 3}, {}]`)
	res := query(t, db, "get c where id = 1")
	require.True(t, res.Next())

	var outer struct {
		Mid
		*hidden
		N int
	}
	require.NoError(t, res.Row().ScanStruct(&outer))
	require.Equal(t, Mid{Inner{Title: "x"}, 3}, outer.Mid)
	require.Equal(t, 1, outer.N)
	require.Nil(t, outer.hidden, "a pointer that nobody can set")

	var pointers struct {
		hidden
		*Mid
	}
	require.NoError(t, res.Row().ScanStruct(&pointers))
	require.Equal(t, 2.5, pointers.F)
	require.Equal(t, &Mid{Inner{N: 1, Title: "x"}, 3}, pointers.Mid)

	// Null leaves a nil pointer, sets one that is there, and is the zero value of
	// what may be left out.
	type optional struct {
		*Inner
		F float64 `fenec:"f,omitempty"`
	}
	empty := query(t, db, "get c where id = 2")
	require.True(t, empty.Next())
	dest := optional{F: 9}
	require.NoError(t, empty.Row().ScanStruct(&dest))
	require.Equal(t, optional{}, dest)
	dest.Inner = new(Inner)
	require.ErrorIs(t, empty.Row().ScanStruct(&dest), fenec.ErrType)

	// One result may be read into several types.
	both, err := fenec.Collect[Mid](query(t, db, "get c where id = 1"))
	require.NoError(t, err)
	require.Equal(t, []Mid{{Inner{N: 1, Title: "x"}, 3}}, both)
	var m Mid
	var o optional
	for _, dest := range []any{&m, &o, &m, &o} {
		require.NoError(t, res.Row().ScanStruct(dest))
	}
	require.Equal(t, both[0], m)
	require.Equal(t, 2.5, o.F)
}

func TestPutStructs(t *testing.T) {
	type doc struct {
		ID   int `fenec:"id,omitempty"`
		N    int
		Name string `fenec:"s,omitempty"`
	}
	fixture := "create collection c (n int required, s text)"
	for name, test := range map[string]struct {
		text string
		args []any
		want string
	}{
		"one":          {"put c $1", []any{doc{N: 1}}, `[{"id":1,"n":1,"s":null}]`},
		"with an id":   {"put c $1", []any{doc{5, 1, "x"}}, `[{"id":5,"n":1,"s":"x"}]`},
		"a mixed list": {"put c $1", []any{[]any{doc{N: 1}, &doc{N: 2}, map[string]any{"n": 3}}}, `[{"id":1,"n":1,"s":null},{"id":2,"n":2,"s":null},{"id":3,"n":3,"s":null}]`},
		"no tag":       {"put c $1", []any{[]struct{ ID, N int }{{0, 1}, {7, 2}, {0, 3}}}, `[{"id":1,"n":1,"s":null},{"id":7,"n":2,"s":null},{"id":8,"n":3,"s":null}]`},
		"insert":       {"insert c $1", []any{[]doc{{N: 1}, {N: 2}}}, `[{"id":1,"n":1,"s":null},{"id":2,"n":2,"s":null}]`},
	} {
		t.Run(name, func(t *testing.T) {
			db := memory(t, fixture)
			query(t, db, test.text, test.args...)
			require.Equal(t, test.want, body(t, db, "get c"))
		})
	}
	db := memory(t, fixture)
	for _, test := range []struct {
		arg  any
		want error
		msg  string
	}{
		{struct{ N, Other int }{}, fenec.ErrNotFound, `"other"`},
		{struct {
			ID int `fenec:"id"`
			N  int
		}{}, fenec.ErrType, `"id" wants an int from 1 on`},
		{struct{ ID, N int }{ID: -1}, fenec.ErrType, `"id" wants an int from 1 on`},
		{struct{ S string }{}, fenec.ErrType, `field "n"`},
		{struct{ N string }{}, fenec.ErrType, `field "n"`},
		{struct{ N chan int }{}, fenec.ErrType, `parameter $1: field "n": a Go value of type chan int`},
		{[]*doc{{N: 1}, nil}, fenec.ErrType, "want a document"},
	} {
		_, err := db.Exec(t.Context(), "put c $1", test.arg)
		require.ErrorIs(t, err, test.want, "%T", test.arg)
		require.ErrorContains(t, err, test.msg)
	}
	require.Equal(t, `[]`, body(t, db, "get c"))
}

// A json.RawMessage takes what JSON there is of a column.
func TestScanJSON(t *testing.T) {
	db := memory(t, append(everyType, shops...)...)
	for column, want := range map[string]string{
		"id": "1", "b": "true", "i": "42", "f": "2.5", "s": `"héllo"`, "t": `"2026-01-02T03:04:05.678Z"`, "v": "[1,0.5]", "h": "[1,2]",
		"ints": "[3,4]", "texts": `["a",null]`, "j": `{"list":[true,"x"],"n":1,"o":{"k":null}}`, "y": "raw",
		"j.list": `[true,"x"]`, "coalesce(none, y) as y": "raw", "i + 1 as sum": "43", "ints as list": "[3,4]",
	} {
		got, err := scanOne[json.RawMessage](t, db, column)
		require.NoError(t, err, column)
		require.Equal(t, want, string(got), column)
	}
	for _, column := range []string{"none", "j.nothing", "null as nothing"} {
		got, err := scanOne[json.RawMessage](t, db, column)
		require.NoError(t, err, column)
		require.Nil(t, got, column)
	}
	type row struct {
		J    json.RawMessage
		None json.RawMessage
		Y    json.RawMessage
		List *json.RawMessage `fenec:"j.list"`
	}
	rows, err := fenec.Collect[row](query(t, db, "get every select j, none, y, j.list"))
	require.NoError(t, err)
	require.Equal(t, []row{{json.RawMessage(`{"list":[true,"x"],"n":1,"o":{"k":null}}`), nil, json.RawMessage("raw"), ptr(json.RawMessage(`[true,"x"]`))}}, rows)

	res := query(t, db, "get name from shop where id = 1 lookup ord on shop select total, id")
	require.True(t, res.Next())
	var children json.RawMessage
	require.NoError(t, res.Scan(new(string), &children))
	require.Equal(t, `[{"total":10,"id":1},{"total":30,"id":2}]`, string(children))
}

func TestScanWithoutChildren(t *testing.T) {
	db := memory(t, shops...)
	res := query(t, db, "get name from shop lookup ord on shop lookup line on ord")
	var got []string
	for res.Next() {
		var name string
		require.NoError(t, res.Scan(&name))
		for ord := range res.Row().Children() {
			var id, shop, total int
			var at *time.Time
			require.NoError(t, ord.Scan(&id, &shop, &total, &at), "nor those of children")
			got = append(got, fmt.Sprint(name, id, total))
		}
		require.ErrorContains(t, res.Scan(), "0 destinations for 2 columns")
		require.NoError(t, res.Scan(&name, new(any)))
	}
	require.Equal(t, []string{"North1 10", "North2 30"}, got)

	// An error names each column on the way once.
	type wrong struct{ Total string }
	res = query(t, db, "get name from shop lookup ord on shop")
	require.True(t, res.Next())
	require.EqualError(t, res.Scan(new(string), new([]wrong)), `column "ord": column "total": type error: int does not fit Go type string`)
	require.EqualError(t, res.Row().ScanStruct(&struct{ Ord []wrong }{}), `column "ord": column "total": type error: int does not fit Go type string`)
	require.EqualError(t, res.Row().ScanStruct(&struct{ Ord []*wrong }{}), `column "ord": member "total": type error: int does not fit Go type string`)

	plain := query(t, db, "get shop")
	require.True(t, plain.Next())
	require.ErrorContains(t, plain.Scan(new(any), new(any)), "2 destinations for 3 columns")
}
