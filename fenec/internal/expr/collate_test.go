package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func TestCollatedComparisons(t *testing.T) {
	col := collection(t, `u text collate und, t text collate tr, plain text, l [text] collate tr, none text collate tr`)
	w := &world{t, col, encode(t, col, `{"u": "ı", "t": "ç", "plain": "ç", "l": ["a", "ç"]}`)}
	w.check(`
		t < "d" => true
		"d" > t => true
		"d" < t => false
		t > "c" => true
		plain < "d" => false
		plain < t => false
		t <= plain => true
		t >= "ç" => true
		t > "ç" => false
		t < "çz" => true
		u > "i" => true
		u < "j" => true
		u < t => false
		t < u => true
		lower(t) < "d" => false
		l < ["a", "d"] => true
		["a", "d"] <= l => false
		l >= ["a", "c", "z"] => true
		t > 5 => true
		t < null => false
		none < "x" => false
		"x" >= none => false
		t = "ç" => true
		t != "Ç" => true
		t in ["c", "ç"] => true
		t ~ "Ç" => true
		l has "ç" => true
		t < timestamp("x") => err type
		t < $1 => err query
	`)
	for _, c := range []struct {
		param value.Value
		want  bool
	}{
		{value.Text("d"), true}, {value.Text("c"), false}, {value.Bytes([]byte("d")), false}, {value.Int(1), false}, {value.Null, false},
	} {
		v, err := w.eval("t < $1", c.param)
		require.NoError(t, err)
		require.Equal(t, c.want, v.AsBool(), "t < %s", c.param)
	}
}
