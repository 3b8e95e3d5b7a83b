package fenec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// badFixture is everyType with more to go wrong.
var badFixture = append([]string{
	"create collection uniq (k text @unique, n int required, l [int] @unique)",
	`put uniq {k: "a", n: 1, l: [1, 2]} {k: "b", n: 2}`,
	"create collection pair (a text, b text, c text, d text, e text)",
}, everyType...)

// badInput is a statement that cannot be run: the kind of its error, and what
// the error's text names.
type badInput struct {
	text  string
	args  []any
	want  error
	names []string
}

func bad(want error, text string, names ...string) badInput {
	return badInput{text: text, want: want, names: names}
}

func badArg(want error, text string, arg any, names ...string) badInput {
	return badInput{text, []any{arg}, want, names}
}

// unchanged returns what no failed statement may change.
func unchanged(t *testing.T, db *fenec.DB) string {
	t.Helper()
	st := stats(t, db)
	return fmt.Sprint(st.Seq, st.Collections, st.LiveBytes, st.Failure, body(t, db, "collections"))
}

// runBad runs bad input in every way there is.
func runBad(t *testing.T, inputs []badInput) {
	t.Helper()
	db := memory(t, badFixture...)
	before := unchanged(t, db)
	for _, in := range inputs {
		name := in.text
		if len(name) > 100 {
			name = name[:100] + "…"
		}
		check := func(err error) {
			t.Helper()
			require.ErrorIs(t, err, in.want, name)
			for _, n := range in.names {
				require.ErrorContains(t, err, n, name)
			}
			require.Less(t, len(err.Error()), 1000, name)
		}
		_, err := db.Query(t.Context(), in.text, in.args...)
		check(err)
		_, err = db.Batch(t.Context(), []fenec.Statement{
			{Text: "put every {i: 1}"}, {Text: in.text, Args: in.args}, {Text: "del every"},
		})
		check(err)
		if st, err := db.Prepare(in.text); err == nil {
			_, err = st.Exec(t.Context(), in.args...)
			check(err)
		} else {
			check(err)
		}
		require.Equal(t, before, unchanged(t, db), name)
	}
	require.Equal(t, `[{"count":1}]`, body(t, db, "get every where i = 42 count"))
}

func TestUnknownNames(t *testing.T) {
	runBad(t, []badInput{
		bad(fenec.ErrNotFound, "get nope", `collection "nope"`),
		bad(fenec.ErrNotFound, "explain get nope", `collection "nope"`),
		bad(fenec.ErrNotFound, "put nope {a: 1}", `collection "nope"`),
		bad(fenec.ErrNotFound, "insert into nope {a: 1}", `collection "nope"`),
		badArg(fenec.ErrNotFound, "put nope $1", []any{}, `collection "nope"`),
		bad(fenec.ErrNotFound, "set nope {a: 1}", `collection "nope"`),
		bad(fenec.ErrNotFound, "del nope", `collection "nope"`),
		bad(fenec.ErrNotFound, "describe nope", `collection "nope"`),
		bad(fenec.ErrNotFound, "drop collection nope", `collection "nope"`),
		bad(fenec.ErrNotFound, "get EVERY", `collection "EVERY"`),
		bad(fenec.ErrNotFound, "get every select nope", `field "nope"`, `"every"`),
		bad(fenec.ErrNotFound, "get every select nope + 1 as x limit 0", `field "nope"`),
		bad(fenec.ErrNotFound, "get every order nope", `field "nope"`),
		bad(fenec.ErrNotFound, "get every where nope = 1", `field "nope"`),
		bad(fenec.ErrNotFound, "get every where I = 1", `field "I"`),
		bad(fenec.ErrNotFound, "get every where nope.path = 1", `field "nope"`),
		bad(fenec.ErrNotFound, "put every {nope: 1}", `field "nope"`, `"every"`),
		bad(fenec.ErrNotFound, "put every {i: 1} {nope: 1}", `field "nope"`),
		badArg(fenec.ErrNotFound, "put every $1", map[string]any{"nope": 1}, `field "nope"`),
		badArg(fenec.ErrNotFound, "put every $1", []any{map[string]any{}, map[string]any{"nope.a": 1}}, `field "nope"`),
		bad(fenec.ErrNotFound, "set every {nope: 1}", `field "nope"`),
		bad(fenec.ErrNotFound, "set every {i: nope}", `field "nope"`),
		bad(fenec.ErrNotFound, "set every {id: 7}", `"id"`),
		bad(fenec.ErrNotFound, "set every {i: 1} order nope", `field "nope"`),
		bad(fenec.ErrNotFound, "del every order nope", `field "nope"`),
		bad(fenec.ErrType, "get every where i.x = 1", `"i.x"`, "int"),
		bad(fenec.ErrType, "put every {s.x: 1}", `"s.x"`, "text"),
		bad(fenec.ErrType, "put every {id.x: 1}", `"id.x"`),
	})
}

func TestTypeMismatches(t *testing.T) {
	inputs := []badInput{
		badArg(fenec.ErrType, "put every $1", 5, "int"),
		badArg(fenec.ErrType, "put every $1", "text", "text"),
		badArg(fenec.ErrType, "put every $1", []any{map[string]any{}, 5}, "int"),
		badArg(fenec.ErrType, "put every $1", nil, "null"),
		bad(fenec.ErrType, "put uniq {k: \"c\"}", `field "n"`, "required"),
		bad(fenec.ErrType, "get every select s + 1 as x"),
		bad(fenec.ErrType, "get every select b * 2 as x"),
		bad(fenec.ErrType, "get every select -s as x"),
		bad(fenec.ErrType, "get every select cosine(v, [1, 2, 3]) as x", "2", "3"),
		bad(fenec.ErrType, "get every select norm(s) as x"),
		bad(fenec.ErrType, "get every select timestamp(\"soon\") as x", "soon"),
		bad(fenec.ErrType, "create collection x (j [json])", `field "j"`),
		bad(fenec.ErrType, "create collection x (b bool @sorted)", `field "b"`, "sorted"),
	}
	for field, values := range map[string][]string{
		"b":     {"1", "0.0", `"true"`, "[true]", "{a: 1}"},
		"i":     {"7.5", "1e30", `"7"`, "true", "[7]", "now() - \"x\""},
		"f":     {`"1.5"`, "true", "now()", "[1.5]"},
		"s":     {"5", "1.5", "true", `["a"]`, "{a: 1}"},
		"y":     {"5", "[256]", "[-1]", "[1.5]", `["a"]`, "true", "[null]"},
		"t":     {`"yesterday"`, `"2026-02-30"`, `"2026-01-01T25:00"`, "1.5", "true", "[1]"},
		"v":     {"[1]", "[1, 2, 3]", "[]", `["a", 1]`, "[1, null]", `"north"`, "5", "[1e39, 0]", "[1, true]"},
		"h":     {"[70000, 0]", "[1]", "[0, -1e30]"},
		"ints":  {"5", `[1, "a"]`, "[1.5]", "[[1]]", `"1"`},
		"texts": {`"a"`, "[1]", `["a", true]`},
	} {
		for _, v := range values {
			inputs = append(inputs, bad(fenec.ErrType, "put every {"+field+": "+v+"}"), bad(fenec.ErrType, "set every {"+field+": "+v+"}"))
			if !strings.Contains(v, "now") {
				inputs[len(inputs)-1].names = []string{`field "` + field + `"`}
			}
		}
	}
	runBad(t, inputs)
}

func TestBadArguments(t *testing.T) {
	type named struct{ X chan int }
	type closed struct{ x int }
	circle := []any{nil}
	circle[0] = circle
	ring := map[string]any{}
	ring["ring"] = ring
	var inputs []badInput
	for _, arg := range []any{
		make(chan int), func() {}, named{}, &named{}, closed{1}, complex(1, 2), errors.New("x"), []named{{}}, map[int]string{1: "x"},
		map[string]any{"x": struct{}{}}, []chan int{nil}, math.NaN(), float32(math.NaN()), uint64(math.MaxUint64), "\xff\xfe",
		[]string{"ok", "\xff"}, map[string]any{"\xff": 1}, circle, ring, json.RawMessage(`{"a":`), json.RawMessage(nil),
		json.RawMessage(`{"a":1,"a":2}`), json.RawMessage("1e999"), json.Number("seven"), json.RawMessage(strings.Repeat("[", 10_000)),
	} {
		inputs = append(inputs, badArg(fenec.ErrType, "put every {j: $1}", arg, "parameter $1"))
	}
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	inputs = append(inputs,
		badInput{"put every {i: $1, s: $2}", []any{1, make(chan int)}, fenec.ErrType, []string{"parameter $2", "chan int"}},
		badArg(fenec.ErrType, "put every {v: $1}", []float32{1, float32(math.NaN())}, `field "v"`, "at 1"),
		badArg(fenec.ErrType, "put every {v: $1}", []float32{float32(math.Inf(-1)), 0}, `field "v"`, "at 0"),
		badArg(fenec.ErrType, "put every {h: $1}", []float32{0, 65505}, `field "h"`, "at 1"),
		badArg(fenec.ErrType, "put every {v: $1}", []float32{1, 2, 3}, `field "v"`, "vector<2>", "3"),
		badArg(fenec.ErrType, "put every {v: $1}", []float32{}, `field "v"`),
		badArg(fenec.ErrType, "put every {j: $1}", []byte("bytes"), `field "j"`, "bytes"),
		badArg(fenec.ErrType, "put every {j: $1}", math.Inf(1), `field "j"`, "finite"),
		badArg(fenec.ErrType, "put every {j: $1}", json.RawMessage(deep), `field "j"`, "64"),
		badArg(fenec.ErrType, "put every {texts: $1}", []any{"a", []byte("b")}, `field "texts"`),
		badArg(fenec.ErrQuery, "put every {i: $2}", 1, "$2"),
		badArg(fenec.ErrQuery, "get every where i = $3", 1, "$3"),
		badArg(fenec.ErrQuery, "get every limit $1", 1),
		badArg(fenec.ErrQuery, "put every {ints: [1, $1]}", 1),
		badArg(fenec.ErrQuery, "get every where i = $0", 1),
		badArg(fenec.ErrQuery, "get every where i = $", 1),
		badArg(fenec.ErrQuery, "get every where i = $99999999999999999999", 1, "$99999999999999999999"),
	)
	runBad(t, inputs)

	// More parameters than are used are no error.
	db := memory(t, badFixture...)
	require.Equal(t, `[{"count":1}]`, body(t, db, "get every where i = $1 count", append([]any{42}, make([]any, 100_000)...)...))
}

func TestBadStatements(t *testing.T) {
	deep := strings.Repeat("(", 100_000) + "i" + strings.Repeat(")", 100_000)
	var fields []string
	for i := range 5000 {
		fields = append(fields, fmt.Sprintf("f%d int", i))
	}
	runBad(t, []badInput{
		bad(fenec.ErrQuery, ""),
		bad(fenec.ErrQuery, " \t\n"),
		bad(fenec.ErrQuery, ";;"),
		bad(fenec.ErrQuery, "-- nothing but a comment"),
		bad(fenec.ErrQuery, "get every; get every", "column 12"),
		bad(fenec.ErrQuery, "put every {i: 1} del every", "column 18"),
		bad(fenec.ErrQuery, "frob every", "frob"),
		bad(fenec.ErrQuery, "get every where"),
		bad(fenec.ErrQuery, "get every where (i = 1"),
		bad(fenec.ErrQuery, "get every where s = \"open"),
		bad(fenec.ErrQuery, "get every where i = 9223372036854775808"),
		bad(fenec.ErrQuery, "get every where i ! 1"),
		bad(fenec.ErrQuery, "get every \x00"),
		bad(fenec.ErrQuery, "get \xff\xfe"),
		bad(fenec.ErrQuery, "get every limit -1"),
		bad(fenec.ErrQuery, "get every limit 99999999999999999999"),
		bad(fenec.ErrQuery, "get every offset 1.5"),
		bad(fenec.ErrQuery, "get every order"),
		bad(fenec.ErrQuery, "set every {i: 1} offset 1"),
		bad(fenec.ErrQuery, "set every"),
		bad(fenec.ErrQuery, "put every"),
		bad(fenec.ErrQuery, "put every []"),
		bad(fenec.ErrQuery, "put every {i: }"),
		bad(fenec.ErrQuery, "put every {i: s}", `"s"`),
		bad(fenec.ErrQuery, "put every {j: {a: 1, a: 2}}", "a"),
		bad(fenec.ErrQuery, "put every {j: {a: i}}"),
		bad(fenec.ErrQuery, "get every count order i", "count"),
		bad(fenec.ErrQuery, "get every count limit 1", "count"),
		bad(fenec.ErrQuery, "get every select i count", "count"),
		bad(fenec.ErrQuery, "get every select i + 1", "name"),
		bad(fenec.ErrQuery, "get every select i, f as i", `"i"`),
		bad(fenec.ErrQuery, "get every where nosuch(i) = 1", "nosuch"),
		bad(fenec.ErrQuery, "get every where len() = 1", "len"),
		bad(fenec.ErrQuery, "get every where len(s, s) = 1", "len"),
		bad(fenec.ErrQuery, "get every where i in $1"),
		bad(fenec.ErrQuery, "get every select i / 0 as x"),
		bad(fenec.ErrQuery, "set every {i: i + 9223372036854775807}"),
		bad(fenec.ErrQuery, "set every {f: f * 1e308 * 1e308}"),
		bad(fenec.ErrQuery, "explain del every"),
		bad(fenec.ErrQuery, "get every where "+deep, "deep"),
		bad(fenec.ErrQuery, "put every {i: "+strings.ReplaceAll(deep, "i", "1")+"}", "deep"),
		bad(fenec.ErrQuery, "set every {i: "+deep+"}", "deep"),
		bad(fenec.ErrQuery, "create collection x ()"),
		bad(fenec.ErrQuery, "create collection x (id int)", `"id"`),
		bad(fenec.ErrQuery, "create collection x (a nosuch)", "nosuch"),
		bad(fenec.ErrQuery, "create collection x (a int @nosuch)", "nosuch"),
		bad(fenec.ErrQuery, "create collection x (v vector<0>)", "vector<0>"),
		bad(fenec.ErrQuery, "create collection x (v vector<999999999>)", "vector<999999999>"),
		bad(fenec.ErrQuery, "create collection x (v vector<2, f8>)", "f8"),
		bad(fenec.ErrQuery, "create collection x ("+strings.Join(fields, ", ")+")", "4096"),
		bad(fenec.ErrExists, "create collection x (a int, a text)", `"a"`),
		bad(fenec.ErrExists, "create collection every (a int)", `"every"`),
	})
}

func TestBadIDsAndDuplicates(t *testing.T) {
	runBad(t, []badInput{
		bad(fenec.ErrType, "put every {id: 0}", `"id"`, "0"),
		bad(fenec.ErrType, "put every {id: -1}", `"id"`, "-1"),
		bad(fenec.ErrType, "put every {id: -9223372036854775808}", `"id"`),
		bad(fenec.ErrType, `put every {id: "7"}`, `"id"`, "7"),
		bad(fenec.ErrType, "put every {id: 7.0}", `"id"`),
		bad(fenec.ErrType, "put every {id: null}", `"id"`, "null"),
		bad(fenec.ErrType, "put every {id: true}", `"id"`),
		badArg(fenec.ErrType, "put every $1", map[string]any{"id": 0}, `"id"`),
		badArg(fenec.ErrType, "put every {id: $1}", 1.0, `"id"`),
		bad(fenec.ErrDuplicate, "insert every {id: 1}", `"every"`, "id 1"),
		bad(fenec.ErrDuplicate, "insert every {id: 9} {id: 9}", "id 9"),
		bad(fenec.ErrDuplicate, `put uniq {k: "a", n: 1}`, "uniq.k", "a", "id 1"),
		bad(fenec.ErrDuplicate, `put uniq {k: "c", n: 1} {k: "c", n: 1}`, "uniq.k", "id 3"),
		bad(fenec.ErrDuplicate, `put uniq {id: 2, k: "a", n: 1}`, "id 1"),
		bad(fenec.ErrDuplicate, "put uniq {n: 1, l: [1.0, 2]}", "uniq.l", "[1,2]"),
		bad(fenec.ErrDuplicate, `set uniq {k: "same"}`, "uniq.k", "same"),
		bad(fenec.ErrDuplicate, `set uniq {k: "b"} where id = 1`, "uniq.k", "id 2"),
	})

	// The last id there is.
	db := memory(t, badFixture...)
	runAll(t, db, "put every {id: 9223372036854775807}")
	before := unchanged(t, db)
	_, err := db.Query(t.Context(), "put every {i: 1}")
	require.ErrorIs(t, err, fenec.ErrQuery)
	require.ErrorContains(t, err, "used up")
	require.Equal(t, before, unchanged(t, db))
	require.Equal(t, `[{"id":9223372036854775807}]`, body(t, db, "get every select id order id desc limit 1"))
}

// Values and documents that are too long are refused, however they are made.
func TestTooLong(t *testing.T) {
	sequential(t)
	const most = 16 << 20
	db := memory(t, badFixture...)
	before := unchanged(t, db)
	long := strings.Repeat("x", most)
	for name, call := range map[string]func() error{
		"a text":      func() error { _, err := db.Exec(t.Context(), "put every {s: $1}", long+"x"); return err },
		"a literal":   func() error { _, err := db.Exec(t.Context(), `put every {s: "`+long+`x"}`); return err },
		"bytes":       func() error { _, err := db.Exec(t.Context(), "put every {y: $1}", []byte(long+"x")); return err },
		"computed":    func() error { _, err := db.Exec(t.Context(), `set every {s: $1 + "x"}`, long); return err },
		"a list":      func() error { _, err := db.Exec(t.Context(), "put every {texts: $1}", []string{long}); return err },
		"json":        func() error { _, err := db.Exec(t.Context(), "put every {j: {a: $1}}", long); return err },
		"within json": func() error { _, err := db.Exec(t.Context(), "put every {j.a.b: $1}", long); return err },
		"a document": func() error {
			_, err := db.Exec(t.Context(), "put pair {a: $1, b: $1, c: $1, d: $1, e: $1}", long)
			return err
		},
		"of a parameter": func() error {
			_, err := db.Exec(t.Context(), "put every $1", map[string]any{"s": long + "x"})
			return err
		},
	} {
		err := call()
		if name == "json" { // no constant
			require.ErrorIs(t, err, fenec.ErrQuery, name)
		} else {
			require.ErrorIs(t, err, fenec.ErrType, name)
			require.ErrorContains(t, err, "bytes", name)
		}
		require.Less(t, len(err.Error()), 1000, name)
		require.Equal(t, before, unchanged(t, db), name)
	}
	n, err := db.Exec(t.Context(), "put every {s: $1}", long)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// A statement of 64 MiB is refused, or run, without much ado.
func TestLongStatements(t *testing.T) {
	sequential(t)
	const size = 64 << 20
	fill := func(before, piece, after string) string {
		return before + strings.Repeat(piece, (size-len(before)-len(after))/len(piece)) + after
	}
	db := memory(t, badFixture...)
	before := unchanged(t, db)
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"parentheses": {fill("get every where ", "(", ""), fenec.ErrQuery},
		"terms":       {fill("get every where i = 0", " or i = 0", ""), fenec.ErrQuery},
		"a string":    {fill(`put every {s: "`, "a", `"}`), fenec.ErrType},
		"garbage":     {fill("get every where ", "\xff", ""), fenec.ErrQuery},
	} {
		_, err := db.Query(t.Context(), tc.text)
		require.ErrorIs(t, err, tc.want, name)
		require.Less(t, len(err.Error()), 1000, name)
		require.Equal(t, before, unchanged(t, db), name)
	}
	require.Equal(t, `[{"count":1}]`, body(t, db, fill("get every --", "#", "\n count")))
}

func TestBlockTooLarge(t *testing.T) {
	db := file(t, fenec.Options{BlockBytes: 1 << 20}, badFixture...)
	before := unchanged(t, db)
	docs := make([]any, 300)
	for i := range docs {
		docs[i] = map[string]any{"s": strings.Repeat("x", 10_000)}
	}
	_, err := db.Exec(t.Context(), "put every $1", docs)
	require.ErrorIs(t, err, fenec.ErrBlockTooLarge)
	_, err = db.Batch(t.Context(), []fenec.Statement{
		{Text: "create collection later (n int)"},
		{Text: "put every $1", Args: []any{docs[:60]}},
		{Text: "put every $1", Args: []any{docs[:60]}},
	})
	require.ErrorIs(t, err, fenec.ErrBlockTooLarge)
	var be *fenec.BatchError
	require.ErrorAs(t, err, &be)
	require.Equal(t, 2, be.At)
	require.Equal(t, before, unchanged(t, db))
	n, err := db.Exec(t.Context(), "put every $1", docs[:60])
	require.NoError(t, err)
	require.Equal(t, 60, n)
}

func TestCancelledContext(t *testing.T) {
	db := file(t, fenec.Options{}, badFixture...)
	before := unchanged(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	get, err := db.Prepare("get every")
	require.NoError(t, err)
	batch := func(texts ...string) error {
		var list []fenec.Statement
		for _, text := range texts {
			list = append(list, fenec.Statement{Text: text})
		}
		_, err := db.Batch(ctx, list)
		return err
	}
	for name, call := range map[string]func() error{
		"get":             func() error { _, err := db.Query(ctx, "get every"); return err },
		"count":           func() error { _, err := db.Query(ctx, "get every count"); return err },
		"put":             func() error { _, err := db.Query(ctx, "put every {i: 1}"); return err },
		"create":          func() error { _, err := db.Exec(ctx, "create collection x (n int)"); return err },
		"drop":            func() error { _, err := db.Exec(ctx, "drop collection every"); return err },
		"collections":     func() error { _, err := db.Exec(ctx, "collections"); return err },
		"compact":         func() error { _, err := db.Query(ctx, "compact"); return err },
		"prepared":        func() error { _, err := get.Query(ctx); return err },
		"batch of reads":  func() error { return batch("get every", "get uniq") },
		"batch of writes": func() error { return batch("put every {i: 1}", "del every") },
		"View":            func() error { return db.View(ctx, func(*fenec.Snapshot) error { return nil }) },
		"Update":          func() error { _, err := db.Update(ctx, func(*fenec.Tx) error { return nil }); return err },
		"Rows":            func() error { _, err := streamed(ctx, db, "get every"); return err },
		"Changed":         func() error { _, err := db.Changed(ctx, 1, "every"); return err },
		"WaitChange":      func() error { return db.WaitChange(ctx, 1, "every") },
		"WaitSeq":         func() error { return db.WaitSeq(ctx, 1) },
		"Warm":            func() error { return db.Warm(ctx) },
		"Checkpoint":      func() error { return db.Checkpoint(ctx) },
		"Compact":         func() error { return db.Compact(ctx) },
		"Image":           func() error { return db.Image(ctx, io.Discard) },
	} {
		require.ErrorIs(t, call(), context.Canceled, name)
		require.Equal(t, before, unchanged(t, db), name)
	}
}

// patience is a context that is cancelled after it has been asked n times.
type patience struct {
	context.Context
	left atomic.Int64
}

func (p *patience) Err() error {
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelledOnTheWay(t *testing.T) {
	db := file(t, fenec.Options{Sync: fenec.SyncOff}, "create collection c (n int @sorted, s text)")
	_, err := db.Exec(t.Context(), "put c $1", documents(5000))
	require.NoError(t, err)
	before := unchanged(t, db)
	for _, text := range []string{
		"get c", "get c where s ~ \"x\"", "get c where s = \"x\" count", "get c order s", "get c order n desc limit 4000", "get c where n >= 0",
		"set c {n: 0}", "set c {n: n + 1} where n >= 0", "del c", "del c where s ~ \"row\"", "put c $1", "explain get c",
	} {
		for n := range int64(3) {
			ctx := &patience{Context: t.Context()}
			ctx.left.Store(n)
			_, err := db.Query(ctx, text, documents(5000))
			require.ErrorIs(t, err, context.Canceled, "%s after %d", text, n)
			require.Equal(t, before, unchanged(t, db), text)
		}
	}
	require.Equal(t, `[{"count":5000}]`, body(t, db, "get c where n >= 0 count"))
}
