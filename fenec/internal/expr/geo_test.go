package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/hll"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func newGlobe(t testing.TB) *world {
	col := collection(t, `loc geo, other geo, none geo, j json, v vector<2>, s text, b bytes`)
	return &world{t, col, encode(t, col, `{"loc": [28.9784, 41.0082], "other": [32.8597, 39.9334],
		"j": {"p": [29, 41], "w": [179.5, 0], "box": [170, -1, -170, 1]}, "v": [29, 41], "s": "x", "b": "abc"}`)}
}

func TestGeoFunctions(t *testing.T) {
	newGlobe(t).check(`
		loc => [28.9784,41.0082]
		loc = [28.9784, 41.0082] => true
		loc < [28.9784, 42] => true
		none => null
		distance(loc, loc) => 0
		distance(loc, loc) = 0 => true
		distance(loc, [29, 41]) > 2029.5 and distance(loc, [29, 41]) < 2029.6 => true
		distance([29, 41], other) > 347444.4 and distance([29, 41], other) < 347444.5 => true
		DISTANCE(loc, other) > 349454.3 and distance(loc, other) < 349454.4 => true
		distance(v, j.p) => 0
		distance([0, 0], [0, 1]) > 111226.2 and distance([0, 0], [0, 1]) < 111226.4 => true
		distance(none, loc) => null
		distance(loc, null) => null
		distance(j.nothing, loc) => null
		distance(loc, [181, 0]) => err type
		distance(loc, [1, 2, 3]) => err type
		distance(loc, s) => err type
		distance(j.box, loc) => err type
		distance(loc) => err query
		within(loc, [25, 35, 45, 42]) => true
		within(loc, [28.9784, 41.0082, 28.9784, 41.0082]) => true
		within(loc, [170, -1, -170, 1]) => false
		within([179.5, 0], [170, -1, -170, 1]) => true
		within(j.w, j.box) => true
		not within(loc, [170, -1, -170, 1]) => true
		within(none, [25, 35, 45, 42]) => null
		not within(none, [25, 35, 45, 42]) => true
		within(loc, null) => null
		within(loc, [0, 10, 1, 5]) => err type
		within(none, [0, 10, 1, 5]) => err type
		within(loc, [0, 1, 2]) => err type
		within(loc, [0, 0, 181, 1]) => err type
		within(s, [25, 35, 45, 42]) => err type
		within(loc, loc) => err type
		within(loc, 25, 35, 45, 42) => err query
	`)
}

func TestGeoFunctionsOfParameters(t *testing.T) {
	w := newGlobe(t)
	v, err := w.eval("within(loc, $1)", value.Vector([]float32{25, 35, 45, 42}))
	require.NoError(t, err)
	require.Equal(t, "true", v.String())
	v, err = w.eval("distance(loc, $1) = distance(loc, other)", value.Point(32.8597, 39.9334))
	require.NoError(t, err)
	require.Equal(t, "true", v.String())
}

func TestSketchEstimate(t *testing.T) {
	w := newGlobe(t)
	var s hll.Sketch
	for i := range int64(500) {
		s.AddValue(value.Int(i))
	}
	v, err := w.eval("hll_estimate($1)", value.Bytes(s.Append(nil)))
	require.NoError(t, err)
	require.Equal(t, value.KindInt, v.Kind())
	require.InDelta(t, 500, v.AsInt(), 10)
	w.check(`
		hll_estimate(null) => null
		hll_estimate(b) => err type
		hll_estimate(s) => err type
		hll_estimate(1) => err type
		hll_estimate() => err query
	`)
}
