package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// TestAgainst compares fields with constants of all kinds, on either side, and
// what that says with the order of values.
func TestAgainst(t *testing.T) {
	w := newWorld(t)
	constants := []value.Value{
		value.Null, value.Bool(true), value.Int(7), value.Int(8), value.Int(1<<63 - 1), value.Int(1<<63 - 2),
		value.Float(7), value.Float(2.5), value.Float(2.25), value.Float(1 << 63), value.Timestamp(7),
		value.Timestamp(1772360430500), value.Timestamp(1772360430501), value.Int(1772360430500),
		value.Text("Straße"), value.Text("Strasse"), value.Text("2026-03-01T10:20:30.5Z"), value.Text("never"),
		value.Bytes([]byte("Straße")), value.List([]value.Value{value.Int(7)}),
	}
	says := map[string]func(sign int) bool{
		"=":  func(sign int) bool { return sign == 0 },
		"!=": func(sign int) bool { return sign != 0 },
		"<":  func(sign int) bool { return sign < 0 },
		"<=": func(sign int) bool { return sign <= 0 },
		">":  func(sign int) bool { return sign > 0 },
		">=": func(sign int) bool { return sign >= 0 },
	}
	for _, field := range []string{"n", "big", "f", "s", "at", "ok", "nothing", "none", "tags"} {
		x, err := w.eval(field)
		require.NoError(t, err)
		for _, c := range constants {
			for op, says := range says {
				ordered := op != "=" && op != "!="
				missing := ordered && (x.IsNull() || c.IsNull())
				got, err := w.eval(field+" "+op+" $1", c)
				require.NoError(t, err)
				require.Equal(t, value.Bool(!missing && says(value.Compare(x, c))), got, "%s %s %s", field, op, c)
				got, err = w.eval("$1 "+op+" "+field, c)
				require.NoError(t, err)
				require.Equal(t, value.Bool(!missing && says(value.Compare(c, x))), got, "%s %s %s", c, op, field)
			}
		}
	}
	_, err := w.eval("n < $2", value.Int(1))
	require.Error(t, err, "a parameter that is not given")
}
