package expr_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// t0 is the clock of every run: 2026-06-01T00:00:00Z.
const t0 = 1780272000000

// collection returns the collection that text declares.
func collection(t testing.TB, text string) *catalog.Collection {
	t.Helper()
	s, err := ql.Parse("create collection c (" + text + ")")
	require.NoError(t, err)
	_, col, err := new(catalog.Catalog).Create(s.(*ql.CreateCollection))
	require.NoError(t, err)
	return col
}

// encode returns the row of a document given as JSON.
func encode(t testing.TB, col *catalog.Collection, doc string) []byte {
	t.Helper()
	v, err := value.ParseJSON([]byte(doc))
	require.NoError(t, err)
	types := make([]value.Type, len(col.Fields))
	vals := make([]value.Value, len(col.Fields))
	for i, f := range col.Fields {
		types[i] = f.Type
		x, _ := v.Get(f.Name)
		vals[i], err = value.Coerce(x, f.Type)
		require.NoError(t, err)
	}
	return row.Encode(nil, types, vals)
}

// world is a collection with one document, which expressions are tried on.
type world struct {
	t   testing.TB
	col *catalog.Collection
	doc []byte
}

func newWorld(t testing.TB) *world {
	col := collection(t, `n int, big int, f float, s text, at timestamp, b bytes, ok bool, tags [text], nums [int],
		v vector<2>, w vector<2, f16>, j json, nothing int, none text`)
	return &world{t, col, encode(t, col, `{"n": 7, "big": 9223372036854775807, "f": 2.5, "s": "Straße", "at": "2026-03-01T10:20:30.5Z",
		"b": "abc", "ok": true, "tags": ["a", "b", null], "nums": [3, 4], "v": [3, 4], "w": [1, 0],
		"j": {"k": {"x": 1, "y": [1, 2]}, "z": null}}`)}
}

// eval evaluates an expression over the document with id 42.
func (w *world) eval(text string, params ...value.Value) (value.Value, error) {
	e, err := ql.ParseExpr(text)
	if err != nil {
		return value.Null, err
	}
	c := expr.NewCompiler(w.col)
	x, err := c.Compile(e, expr.Late)
	if err != nil {
		return value.Null, err
	}
	var f expr.Frame
	f.Reset(c, params, t0)
	require.NoError(w.t, f.Stand(42, w.doc))
	v, err := x.Eval(&f)
	again, err2 := x.Eval(&f)
	require.Equal(w.t, err == nil, err2 == nil, "%s: a second evaluation differs", text)
	require.True(w.t, valuetest.Identical(v, again), "%s: a second evaluation differs", text)
	if err == nil {
		ok, err := x.Test(&f)
		require.NoError(w.t, err, text)
		require.Equal(w.t, v.Truthy(), ok, text)
	}
	return v, err
}

// try evaluates lines of "expression => result": JSON with the kind in front
// where it is not plain, or "err kind".
func try(t *testing.T, lines string) {
	t.Helper()
	newWorld(t).check(lines)
}

// check is try over the document of w.
func (w *world) check(lines string) {
	t := w.t
	t.Helper()
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		text, want, ok := strings.Cut(line, " => ")
		require.True(t, ok, line)
		got, err := w.eval(text)
		if kind, ok := strings.CutPrefix(want, "err "); ok {
			require.Error(t, err, "%s gave %s", line, got)
			require.Equal(t, kind+" error", fault.KindOf(err).String(), "%s: %v", line, err)
			continue
		}
		require.NoError(t, err, line)
		require.Equal(t, want, got.String(), line)
	}
}

func TestFields(t *testing.T) {
	try(t, `
		id => 42
		n => 7
		s => "Straße"
		at => "2026-03-01T10:20:30.500Z"
		b => [97,98,99]
		tags => ["a","b",null]
		v => [3,4]
		w => [1,0]
		nothing => null
		j.k.x => 1
		j.k => {"x":1,"y":[1,2]}
		j.k.x.y => null
		j.nope.y => null
		n.x => err type
		id.x => err type
	`)
	_, err := newWorld(t).eval("nope")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	_, err = newWorld(t).eval("nope.x")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

func TestComparisons(t *testing.T) {
	try(t, `
		n = 7 => true
		n = 7.0 => true
		n != 7 => false
		n = "7" => false
		nothing = null => true
		n = null => false
		nothing != null => false
		n != null => true
		nothing < 1 => false
		not (nothing > 1) => true
		1 < nothing => false
		n < "a" => true
		n >= 7 => true
		n <= 6 => false
		n > 6.5 => true
		big = 9223372036854775808.0 => true
		at = "2026-03-01T10:20:30.5Z" => true
		at = "2026-03-01T12:20:30.5+02:00" => true
		"2026-03-01T10:20:30.5Z" = at => true
		at < "2026-03-02" => true
		at < "not a time" => true
		at > "not a time" => false
		at in ["2026-03-01T10:20:30.5Z"] => true
		at = 1772360430500 => true
		at < now() => true
		s ~ "STRASSE" => false
		s ~ "TRAß" => true
		s ~ "" => true
		n ~ "7" => false
		s ~ 7 => false
		nothing ~ "x" => false
		"ABC" ~ "b" => true
		s ~ s => true
		tags has "a" => true
		tags has null => true
		tags has "c" => false
		s has "S" => false
		nums = [3, 4] => true
		nums = [3.0, 4] => true
		v = [3, 4] => true
		v < [3, 5] => true
		nothing is null => true
		n is null => false
		n is not null => true
		j.z is null => true
		j.k.y = [1, 2] => true
		j.k = {x: 1, y: [1, 2]} => true
	`)
}

func TestIn(t *testing.T) {
	try(t, `
		n in [] => false
		n in [1, 7] => true
		n in [1, 7.0] => true
		n in ["7"] => false
		nothing in [1, null] => true
		n in [1, null] => false
		n in [n] => true
		n in [7, 1/0] => true
		n in [1/0, 7] => err query
		s in ["a", "b", "c", "d", "e", "f", "g", "Straße"] => true
		s in ["a", "b", "c", "d", "e", "f", "g", "h"] => false
		n in [0, 1, 2, 3, 4, 5, 6, 7] => true
		f in [0, 1, 2, 3, 4, 5, 6, 7] => false
		7.0 in [0, 1, 2, 3, 4, 5, 6, n] => true
		n in [0, 1, 2, 3, 4, 5, 6, 7.0] => true
		nothing in [0, 1, 2, 3, 4, 5, 6, null] => true
		n in [0, 1, 2, 3, 4, 5, 6, 7, 1/0] => true
		n in [0, 1, 2, 3, 4, 5, 6, 1/0, 7] => err query
		not n in [1] => true
	`)
}

func TestLogic(t *testing.T) {
	try(t, `
		n and f => true
		n and nothing => false
		nothing or 0 => false
		0 or n => true
		not 0 => true
		not s => false
		not tags => false
		not [] => true
		false and nope => false
		true or nope = 1 => true
		nothing and 1/0 = 1 => false
		n or 1/0 = 1 => true
		n = 1 and $9 = 1 => false
		n = 7 and $9 = 1 => err query
		1/0 = 1 or n => err query
		case when n > 9 then "a" when n > 5 then "b" else "c" end => "b"
		case when n > 9 then "a" end => null
		case when n then 1 when 1/0 = 1 then 2 else 3 end => 1
		case when nothing then 1/0 else 3 end => 3
		case when ok then n end => 7
	`)
}

func TestArithmetic(t *testing.T) {
	try(t, `
		n + 1 => 8
		n - 10 => -3
		n * 3 => 21
		n / 2 => 3
		0 - n / 2 => -3
		n / 2.0 => 3.5
		f + n => 9.5
		-n => -7
		-f => -2.5
		- -n => 7
		-nothing => null
		-s => err type
		nothing + 1 => null
		nothing + "x" => null
		s + "!" => "Straße!"
		s + 1 => err type
		tags + tags => err type
		ok + 1 => err type
		big + 1 => err query
		big * 2 => err query
		-big - 2 => err query
		(-big - 1) / -1 => err query
		n / 0 => err query
		nothing / 0 => null
		f / 0 => err query
		f * 1e308 * 10 => err query
		at + 500 => "2026-03-01T10:20:31Z"
		500 + at => "2026-03-01T10:20:31Z"
		at - 500 => "2026-03-01T10:20:30Z"
		at - at => 0
		at + at => err type
		at * 2 => err type
		at + big => err query
		2 + 3 * 4 => 14
		(2 + 3) * 4 => 20
	`)
}

func TestFunctions(t *testing.T) {
	try(t, `
		lower(s) => "straße"
		UPPER(s) => "STRASSE"
		lower(n) => 7
		lower(nothing) => null
		len(s) => 6
		len(b) => 3
		len(tags) => 3
		len(v) => 2
		len(n) => 0
		len(nothing) => 0
		len(j) => 0
		coalesce(nothing, none, n, 1/0) => 7
		coalesce(nothing) => null
		coalesce() => err query
		greatest(n, f, nothing) => 7
		least(n, f, nothing) => 2.5
		greatest(n, s) => "Straße"
		greatest(nothing) => null
		greatest() => err query
		least() => err query
		now() => "2026-06-01T00:00:00Z"
		now(1) => err query
		now() - at => 7911569500
		timestamp("2026-01-01") => "2026-01-01T00:00:00Z"
		timestamp(0) => "1970-01-01T00:00:00Z"
		timestamp(at) => "2026-03-01T10:20:30.500Z"
		timestamp(nothing) => null
		timestamp(f) => err type
		timestamp(s) => err type
		lower() => err query
		lower(s, s) => err query
		nosuch(1) => err query
		sum(n) => err query
		expired() => err query
		false and nosuch(1) => err query
	`)
}

func TestVectorFunctions(t *testing.T) {
	try(t, `
		norm(v) => 5
		norm(w) => 1
		norm([3, 4]) => 5
		norm(nothing) => err type
		norm(s) => err type
		norm([]) => err type
		norm(["a"]) => err type
		normalize(v) => [0.6,0.8]
		normalize([0, 0]) => [0,0]
		normalize(n) => err type
		l2(v, [0, 0]) => 5
		l2(v, v) => 0
		dot(v, w) => 3
		dot(v, [2, 1]) => 10
		dot([2, 1], v) => 10
		dot(nums, v) => 25
		cosine(v, v) => 1
		cosine(v, w) => 0.6
		cosine(v, [-3, -4]) => -1
		cosine(v, [0, 0]) => 0
		cosine(v, normalize(v)) => 1
		cosine(normalize(v), v) => 1
		cosine(normalize(w), normalize(v)) > 0.6 => true
		cosine(v, [1, 0, 0]) => err type
		cosine(v, [1e300, 0]) => err type
		cosine(v, "[1,0]") => err type
		cosine(v, nothing) => err type
		cosine(v) => err query
	`)
}

func TestBucket(t *testing.T) {
	try(t, `
		bucket(at, 1d) => "2026-03-01T00:00:00Z"
		bucket(at, 15m) => "2026-03-01T10:15:00Z"
		bucket(at, 500MS) => "2026-03-01T10:20:30.500Z"
		bucket(at, "2h") => "2026-03-01T10:00:00Z"
		bucket(at, 3600000) => "2026-03-01T10:00:00Z"
		bucket(at, 1w) => "2026-02-23T00:00:00Z"
		bucket(at, 2w) => "2026-02-16T00:00:00Z"
		bucket(at, 1mo) => "2026-03-01T00:00:00Z"
		bucket(at, 5mo) => "2025-11-01T00:00:00Z"
		bucket(at, 1y) => "2026-01-01T00:00:00Z"
		bucket(at, 10y) => "2020-01-01T00:00:00Z"
		bucket(n, 5) => 5
		bucket(-n, 5) => -10
		bucket(timestamp("1969-12-31T23:59:59Z"), 1d) => "1969-12-31T00:00:00Z"
		bucket(timestamp("1969-12-31"), 1mo) => "1969-12-01T00:00:00Z"
		bucket(timestamp("1969-12-31"), 7y) => "1963-01-01T00:00:00Z"
		bucket(timestamp("1970-01-04"), 1w) => "1969-12-29T00:00:00Z"
		bucket(nothing, 1d) => null
		bucket(s, 1d) => err type
		bucket(f, 1d) => err type
		bucket(at, 0s) => err query
		bucket(at, 1fortnight) => err query
		bucket(at, "0s") => err query
		bucket(at, "d") => err query
		bucket(at, "1 d") => err query
		bucket(at, "1d1") => err query
		bucket(at, -1) => err query
		bucket(at, f) => err type
		bucket(at, null) => err type
		bucket(at, 9223372036854775807d) => err query
		bucket(-big - 1, 10) => err query
		bucket(at) => err query
	`)
}

func TestParameters(t *testing.T) {
	w := newWorld(t)
	v, err := w.eval("$1 + $2", value.Int(1), value.Int(2), value.Int(3))
	require.NoError(t, err)
	require.Equal(t, "3", v.String())
	_, err = w.eval("$3", value.Int(1), value.Int(2))
	require.Equal(t, fault.Query, fault.KindOf(err))
	v, err = w.eval("at = $1", value.Text("2026-03-01T10:20:30.5Z"))
	require.NoError(t, err)
	require.Equal(t, "true", v.String())
	v, err = w.eval("s ~ $1", value.Text("STR"))
	require.NoError(t, err)
	require.Equal(t, "true", v.String())
	v, err = w.eval("dot(v, $1)", value.List([]value.Value{value.Int(1), value.Float(1)}))
	require.NoError(t, err)
	require.Equal(t, "7", v.String())
	v, err = w.eval("n in [$1, $1, $1, $1, $1, $1, $1, $2]", value.Int(1), value.Int(7))
	require.NoError(t, err)
	require.Equal(t, "true", v.String())
}

// TestFrameReset runs one compiled expression with other parameters.
func TestFrameReset(t *testing.T) {
	w := newWorld(t)
	e, err := ql.ParseExpr(`s = lower($1) + "x" or n in [$1, $1, $1, $1, $1, $1, $1, $1]`)
	require.NoError(t, err)
	c := expr.NewCompiler(w.col)
	x, err := c.Compile(e, expr.Late)
	require.NoError(t, err)
	require.False(t, x.Constant())
	var f expr.Frame
	for _, step := range []struct {
		param value.Value
		want  bool
	}{{value.Text("a"), false}, {value.Int(7), false}, {value.Int(8), false}} {
		f.Reset(c, []value.Value{step.param}, t0)
		require.NoError(t, f.Stand(1, w.doc))
		ok, err := x.Test(&f)
		f.Release()
		if step.param.Kind() == value.KindInt {
			require.Equal(t, fault.Type, fault.KindOf(err), "int + text")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, step.want, ok)
	}
}

func TestConstant(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]bool{
		"1 + 2":            true,
		"coalesce(1, 1/0)": true,
		"1/0":              true,
		"$1":               true,
		"now() - 5":        true,
		"n":                false,
		"n + $1":           false,
		"id":               false,
	} {
		e, err := ql.ParseExpr(text)
		require.NoError(t, err)
		x, err := expr.NewCompiler(w.col).Compile(e, expr.Late)
		require.NoError(t, err)
		require.Equal(t, want, x.Constant(), text)
	}
}

func TestFieldModes(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		text   string
		fields expr.Fields
		want   fault.Kind
	}{
		{"nope", expr.Late, 0},
		{"nope", expr.Early, fault.NotFound},
		{"false and nope", expr.Early, fault.NotFound},
		{"n.x", expr.Early, 0},
		{"n", expr.None, fault.Query},
		{"id", expr.None, fault.Query},
		{"nope", expr.None, fault.Query},
		{"$1 + 1", expr.None, 0},
	} {
		e, err := ql.ParseExpr(c.text)
		require.NoError(t, err)
		_, err = expr.NewCompiler(w.col).Compile(e, c.fields)
		require.Equal(t, c.want, fault.KindOf(err), "%s: %v", c.text, err)
	}
}

func TestLongText(t *testing.T) {
	w := newWorld(t)
	half := value.Text(strings.Repeat("x", expr.MaxText/2))
	v, err := w.eval("$1 + $1", half)
	require.NoError(t, err)
	require.Equal(t, expr.MaxText, v.Len())
	_, err = w.eval(`$1 + $1 + "x"`, half)
	require.Equal(t, fault.Type, fault.KindOf(err))
}

// TestMemory makes sure that a result does not lie in the memory of another
// row than the one it was computed from.
func TestMemory(t *testing.T) {
	w := newWorld(t)
	e, err := ql.ParseExpr("s")
	require.NoError(t, err)
	c := expr.NewCompiler(w.col)
	x, err := c.Compile(e, expr.Late)
	require.NoError(t, err)
	var f expr.Frame
	f.Reset(c, nil, t0)
	require.NoError(t, f.Stand(1, w.doc))
	v, err := x.Eval(&f)
	require.NoError(t, err)
	kept := value.Clone(v)
	require.Error(t, f.Stand(2, []byte{9}), "a row that is none")
	clear(w.doc)
	require.Equal(t, "Straße", kept.AsText())
}

func BenchmarkFilter(b *testing.B) {
	w := newWorld(b)
	for _, text := range []string{
		`n = 7`, `n > $1 and s = "Straße"`, `s ~ "trass"`, `at < now() - 1000`, `tags has "b"`, `j.k.x = 1`, `cosine(v, [1, 2]) > 0.1`,
	} {
		b.Run(text, func(b *testing.B) {
			e, err := ql.ParseExpr(text)
			require.NoError(b, err)
			c := expr.NewCompiler(w.col)
			x, err := c.Compile(e, expr.Late)
			require.NoError(b, err)
			var f expr.Frame
			f.Reset(c, []value.Value{value.Int(3)}, t0)
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Stand(1, w.doc); err != nil {
					b.Fatal(err)
				}
				if _, err := x.Test(&f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzEval(f *testing.F) {
	for _, text := range []string{
		`n = 7 and s ~ "x"`, `bucket(at, "15m") > now() - 1`, `case when ok then -n else big + 1 end`, `j.k.y has 1 or f in [1, $1]`,
		`cosine(v, [1, 2]) * dot(w, v)`, `greatest(least(n, f), coalesce(none, s))`, `timestamp("2026-01-01") - at / 2`, `{a: [1, {b: null}]} = j`,
		`bucket(n, 9mo) + bucket(-big, "3y")`,
	} {
		f.Add(text)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, text string) {
		w := &world{t, w.col, w.doc}
		if _, err := w.eval(text, value.Int(3), value.Text("x")); err != nil {
			require.NotZero(t, fault.KindOf(err), "%q: %v", text, err)
		}
	})
}
