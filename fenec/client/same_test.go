package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

func spell(x any) string { return fmt.Sprintf("%+v %#v", x, x) }

// both runs fn over an embedded database and over a served one.
func both(t *testing.T, fn func(t *testing.T, db client.Database)) {
	t.Run("embedded", func(t *testing.T) {
		db, err := fenec.OpenMemory(fenec.Options{})
		require.NoError(t, err)
		defer db.Close()
		fn(t, db)
	})
	t.Run("served", func(t *testing.T) {
		fn(t, inMemory(t, serve.Options{}).open(client.Options{}))
	})
}

// note is a document with a field of every type that a struct can hold.
type note struct {
	ID    int64
	Text  string
	N     int64
	F     float64
	B     bool
	Raw   []byte
	At    time.Time
	Maybe *time.Time
	V     []float32
	Tags  []string
	Times []time.Time
	J     map[string]any
}

const createNotes = `create collection notes (text text @text, n int @sorted, f float, b bool, raw bytes, at timestamp @sorted, maybe timestamp,
	v vector<3> @hnsw(l2), tags [text], times [timestamp], j json)`

var noon = time.Date(2026, 3, 1, 12, 0, 0, 250e6, time.UTC)

func twoNotes() []note {
	return []note{
		{ID: 1, Text: "red fox", N: math.MaxInt64, F: 5, B: true, Raw: []byte{0, 1, 255}, At: noon, Maybe: &noon, V: []float32{1, 0.1, math.Float32frombits(0x15AE43FD)},
			Tags: []string{"a", "b\"\\\n"}, Times: []time.Time{noon}, J: map[string]any{"f": 2.5, "i": int64(2), "s": "x", "l": []any{nil, true}}},
		{ID: 2, Text: "🦀 </script>", N: math.MinInt64, F: 1e300, Raw: []byte{}, At: time.Unix(0, 0).UTC(), V: []float32{0, 0, 0}, Tags: []string{}, Times: []time.Time{}, J: map[string]any{}},
	}
}

// What a struct holds comes back as it was.
func TestStructsComeBack(t *testing.T) {
	both(t, func(t *testing.T, db client.Database) {
		_, err := db.Exec(t.Context(), createNotes)
		require.NoError(t, err)
		n, err := db.Exec(t.Context(), `put notes $1`, twoNotes())
		require.NoError(t, err)
		require.Equal(t, 2, n)
		res, err := db.Query(t.Context(), `get notes order id`)
		require.NoError(t, err)
		require.Equal(t, fenec.KindRows, res.Kind())
		require.False(t, res.Wrote())
		got, err := fenec.Collect[note](res)
		require.NoError(t, err)
		for i, want := range twoNotes() {
			require.Equal(t, want, got[i])
		}
	})
}

func TestScan(t *testing.T) {
	both(t, func(t *testing.T, db client.Database) {
		_, err := db.Exec(t.Context(), createNotes)
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), `put notes $1`, twoNotes()[:1])
		require.NoError(t, err)
		res, err := db.Query(t.Context(), `get notes select id, at, raw, v, f, j, maybe, times`)
		require.NoError(t, err)
		require.True(t, res.Next())
		var id uint8
		var at time.Time
		var raw [3]byte
		var v [3]float64
		var f float32
		var j json.RawMessage
		var maybe **time.Time
		var times []*time.Time
		require.NoError(t, res.Scan(&id, &at, &raw, &v, &f, &j, &maybe, &times))
		require.Equal(t, noon, at)
		require.Equal(t, [3]byte{0, 1, 255}, raw)
		require.Equal(t, 1.0, v[0])
		require.Equal(t, float32(5), f)
		require.Equal(t, `{"f":2.5,"i":2,"l":[null,true],"s":"x"}`, string(j))
		require.Equal(t, noon, **maybe)
		require.Equal(t, noon, *times[0])

		row := res.Row()
		at, err = row.Time("at")
		require.NoError(t, err)
		require.Equal(t, noon, at)
		vector, err := row.Vector("v")
		require.NoError(t, err)
		require.Equal(t, twoNotes()[0].V, vector)
		_, err = row.Int("at")
		require.ErrorIs(t, err, fenec.ErrType)
		_, err = row.Int("nope")
		require.ErrorIs(t, err, fenec.ErrNotFound)
	})
}

// statement is a statement with what it is given.
type statement struct {
	text string
	args []any
}

func s(text string, args ...any) statement { return statement{text, args} }

// script is statements of all kinds, those that fail among them.
var script = []statement{
	s(`create collection authors (name text @unique, born int)`),
	s(`create collection authors (name text)`),
	s(`create collection if not exists authors (name text)`),
	s(`create collection books (title text @text, author int @hash, pages int @sorted, at timestamp @sorted, price float, raw bytes, v vector<2> @hnsw(cosine), sp sparse<9>, pos geo, j json, kind text)`),
	s(`put authors [{name: $1, born: $2}, {name: $3}]`, "Ann", 1920, "Bo"),
	s(`put authors {name: $1}`, "Ann"),
	s(`put books $1`, map[string]any{"title": "The red fox", "author": 1, "pages": 100, "at": noon, "price": 9.5, "raw": []byte{7}, "v": []float32{1, 0}, "sp": "{1:0.5}/9", "pos": []float64{13.4, 52.5}, "j": map[string]any{"k": []int{1}}, "kind": "a"}),
	s(`put books $1`, []any{map[string]any{"title": "Foxes", "author": 1, "pages": 200, "v": []float32{0.6, 0.8}, "kind": "a", "at": noon.Add(time.Hour)}, map[string]any{"title": "None", "author": 2, "v": []float32{0, 1}, "kind": "b"}}),
	s(`insert into books {id: 1}`),
	s(`get books order id`),
	s(`get books where pages > $1`, 150),
	s(`get books where pages = $1`, 100.0),
	s(`get books where at = $1 select id`, noon),
	s(`get books where at < $1 select id, at + 1000 as later`, noon.Add(time.Minute)),
	s(`get books where title has $1 or kind in [$2, $3] select title`, "red", "b", nil),
	s(`get books where raw is not null select id, raw`),
	s(`get books where j.k has $1 select id, j.k, j`, 1),
	s(`get books where price = $1 select id`, 9.5),
	s(`get books match title $1 select id`, "fox foxes"),
	s(`get books near v $1 limit 2 select id, v`, []float32{1, 0.1}),
	s(`get books match title $1 near v $2 fuse limit 2`, "fox", []float32{0, 1}),
	s(`get books near pos $1 limit 1`, []float64{13, 52}),
	s(`get books near sp $1 limit 1`, "{1:2}/9"),
	s(`get books count`),
	s(`get books where id > 99`),
	s(`get books select count(*), sum(pages), avg(price), min(at), max(title)`),
	s(`get books select kind, count(*) as n group kind order kind`),
	s(`get books select id facet kind, pages ranges [0, 150, 300] order id`),
	s(`get authors select name lookup books on author order id`),
	s(`get authors where name = "Bo" lookup books on author select title, id`),
	s(`explain get books where pages > 1`),
	s(`collections`),
	s(`describe authors`),
	s(`describe nope`),
	s(`get nope`),
	s(`get books select nope`),
	s(`get books where`),
	s(`get books; get books`),
	s(``),
	s(`get books where pages > $1`),
	s(`put books {pages: "x"}`),
	s(`put books {pages: $1}`, make(chan int)),
	s(`put books {pages: $1}`, math.NaN()),
	s(`put books {title: $1}`, "\xff"),
	s(`set books {pages: pages + $1} where author = $2`, 10, 1),
	s(`set books {kind: $1} where author = 1 order id limit 1 returning id, kind, at`, "z"),
	s(`set books {kind: "q"} where id = 99 require 1`),
	s(`get books where id = 99 require 1`),
	s(`del books where id = $1 returning *`, 3),
	s(`del books where id = $1 returning id`, 3),
	s(`put books {title: "x"} if absent`),
	s(`create index on books (j.k) @sorted`),
	s(`create index on books (kind) @hash`),
	s(`alter collection books add more text`),
	s(`compact`),
	s(`drop collection books`),
	s(`drop collection books`),
	s(`drop collection if exists books`),
}

// took is how long something took, in a plan.
var took = regexp.MustCompile(` in [0-9.]+[µm]?s`)

// timeless returns what was told without how long it took.
func timeless(lines []string) []string {
	for i := range lines {
		lines[i] = took.ReplaceAllString(lines[i], "")
	}
	return lines
}

// told is all that a statement's answer says.
func told(res *fenec.Result, err error) []string {
	if err != nil {
		return []string{"error", err.Error(), kinds(err)}
	}
	body, err := res.AppendJSON(nil)
	if err != nil {
		return []string{"broken", err.Error()}
	}
	batch, err := res.AppendBatchJSON(nil)
	if err != nil {
		return []string{"broken", err.Error()}
	}
	out := []string{fmt.Sprint(res.Kind(), res.Affected(), res.Wrote(), res.Message(), res.Len()), string(body), string(batch)}
	if res.Len() > 0 {
		out = append(out, fmt.Sprint(res.Columns()))
	}
	for _, f := range res.Facets() {
		out = append(out, fmt.Sprint(f))
	}
	return append(out, levels(res.All(), "")...)
}

// levels spells the children of rows.
func levels(rows iter.Seq[fenec.Row], indent string) (out []string) {
	for row := range rows {
		body, err := row.AppendJSON(nil)
		out = append(out, fmt.Sprint(indent, string(body), err))
		out = append(out, levels(row.Children(), indent+" ")...)
	}
	return out
}

// kinds names the errors of package fenec that err matches.
func kinds(err error) string {
	return fmt.Sprint(slices.Collect(func(yield func(string) bool) {
		for _, kind := range []error{fenec.ErrQuery, fenec.ErrType, fenec.ErrNotFound, fenec.ErrExists, fenec.ErrDuplicate, fenec.ErrUnmet, fenec.ErrReadOnly, fenec.ErrDenied} {
			if errors.Is(err, kind) && !yield(kind.Error()) {
				return
			}
		}
	}))
}

// The same statements are answered in the same words, embedded and served.
func TestSameAnswers(t *testing.T) {
	embedded, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer embedded.Close()
	db := inMemory(t, serve.Options{}).open(client.Options{NoKeys: true})
	for _, st := range script {
		want := told(embedded.Query(t.Context(), st.text, st.args...))
		got := told(db.Query(t.Context(), st.text, st.args...))
		require.Equal(t, timeless(want), timeless(got), st.text)
	}
	require.Equal(t, embedded.Seq(), db.Seq())
}

// The rows of Rows are those of Query.
func TestSameRows(t *testing.T) {
	both(t, func(t *testing.T, db client.Database) {
		_, err := db.Exec(t.Context(), `create collection parents (name text)`)
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), `create collection kids (of int @hash, pad text)`)
		require.NoError(t, err)
		var parents, kids []map[string]any
		for i := range 60 {
			parents = append(parents, map[string]any{"id": i + 1, "name": fmt.Sprint("p", i)})
			kids = append(kids, map[string]any{"of": i/3 + 1, "pad": string(make([]byte, i*20))})
		}
		_, err = db.Exec(t.Context(), `put parents $1`, parents)
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), `put kids $1`, kids)
		require.NoError(t, err)
		for _, text := range []string{`get parents lookup kids on of`, `get kids`, `get kids where id > 1000`, `get kids select pad order id`} {
			res, err := db.Query(t.Context(), text)
			require.NoError(t, err)
			want, got := levels(res.All(), ""), []string(nil)
			for row, err := range db.Rows(t.Context(), text) {
				require.NoError(t, err)
				got = append(got, levels(slices.Values([]fenec.Row{row}), "")...)
			}
			require.Equal(t, want, got, text)
		}
		for row, err := range db.Rows(t.Context(), `get parents order id`) {
			require.NoError(t, err)
			require.Equal(t, int64(1), first(row.Int("id")))
			break
		}
		for _, text := range []string{`get nope`, `put kids {}`, `get kids facet of`, `get kids where`} {
			var last error
			for _, err := range db.Rows(t.Context(), text) {
				last = err
			}
			require.Error(t, last, text)
			require.NotEqual(t, "[]", kinds(last), text)
		}
	})
}

func first[T any](x T, _ error) T { return x }

func TestSameBatches(t *testing.T) {
	both(t, func(t *testing.T, db client.Database) {
		results, err := db.Batch(t.Context(), []fenec.Statement{
			{Text: `create collection c (n int @unique)`},
			{Text: `put c {n: $1}`, Args: []any{1}},
			{Text: `get c`},
			{Text: `get c facet n`},
			{Text: "describe c"},
			{Text: `set c {n: 2} returning n`},
		})
		require.NoError(t, err)
		var bodies []string
		for _, res := range results {
			body, err := res.AppendBatchJSON(nil)
			require.NoError(t, err)
			bodies = append(bodies, string(body))
		}
		require.Equal(t, []string{
			`{"message":"collection c created"}`, `{"affected":1}`, `{"rows":[{"id":1,"n":1}]}`,
			`{"rows":[{"id":1,"n":1}],"facets":{"n":[{"value":1,"count":1}]}}`,
			`{"collections":[{"name":"c","fields":[{"name":"n","type":"int","index":"unique","required":false}]}]}`,
			`{"rows":[{"n":2}]}`,
		}, bodies)
		require.True(t, results[5].Wrote())
		require.Equal(t, 1, results[5].Affected())

		reads, err := db.Batch(t.Context(), []fenec.Statement{{Text: `get c count`}, {Text: `get c`}})
		require.NoError(t, err)
		require.Equal(t, results[1].Seq(), reads[0].Seq())
		none, err := db.Batch(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, none)

		for _, bad := range []fenec.Statement{{Text: `put c {n: 2}`}, {Text: `put c {n: $1}`, Args: []any{func() {}}}, {Text: `get`}} {
			_, err = db.Batch(t.Context(), []fenec.Statement{{Text: `put c {n: 3}`}, bad})
			var failed *fenec.BatchError
			require.ErrorAs(t, err, &failed, bad.Text)
			require.Equal(t, 1, failed.At)
			require.Zero(t, failed.Completed)
			require.NotEqual(t, "[]", kinds(err))
		}
		n, err := db.Exec(t.Context(), `del c`)
		require.NoError(t, err)
		require.Equal(t, 1, n, "of failed batches nothing stays")
	})
}
