package client_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// A subscription's arguments pick the rows that the same condition picks in a get.
func TestConditionsOfSubscriptions(t *testing.T) {
	conditions := []statement{
		s(``),
		s(`n = 1`),
		s(`n = $1`, 1),
		s(`n-$1 = 5`, -4),
		s(`n -$1*2 > $2`, -1, 0.5),
		s(`f = $1`, 2.0),
		s(`f > $1`, 1e-7),
		s("s = \"ü$1\" or\n  s = $2\nor s = $1", `a"\`, "new\nline"),
		s(`s in [$1, $2, $3]`, "x", nil, `a"\`),
		s(`s has $1`, "ü"),
		s(`at = $1`, noon),
		s(`at < $1`, noon.Add(time.Second)),
		s(`b = $1`, true),
		s(`tags has $1`, "t"),
		s(`j.k = $1`, "v"),
		s(`j = $1`, map[string]any{"k": "v", "a b": []any{1, -2.5, nil}}),
		s(`n in (get c where n < $2 select n) and n > $1`, 0, 3),
		s(`s = $11`, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "x"),
	}
	both(t, func(t *testing.T, db client.Database) {
		_, err := db.Exec(t.Context(), `create collection c (n int, f float, s text, at timestamp, b bool, tags [text], j json)`)
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), `put c $1`, []map[string]any{
			{"n": 1, "f": 2.0, "s": "x", "at": noon, "b": true, "tags": []string{"t"}, "j": map[string]any{"k": "v", "a b": []any{1, -2.5, nil}}},
			{"n": 2, "f": 0.5, "s": `a"\`, "at": noon.Add(time.Hour), "b": false},
			{"n": 3, "s": "new\nline"},
			{"n": -9, "s": "ü$1"},
		})
		require.NoError(t, err)
		for _, c := range conditions {
			get := `get c`
			if c.text != "" {
				get += " where " + c.text
			}
			want, err := db.Query(t.Context(), get, c.args...)
			require.NoError(t, err, c.text)
			sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c", Where: c.text, Args: c.args}, fenec.NoCursor)
			require.NoError(t, err, c.text)
			ev, err := sub.Next(t.Context())
			require.NoError(t, err, c.text)
			require.Equal(t, fenec.EventSeed, ev.Kind)
			require.Equal(t, levels(want.All(), ""), levels(ev.Rows.All(), ""), c.text)
			require.NoError(t, sub.Close())
		}
		for _, c := range []statement{s(`n = $2`, 1), s(`n = $1`), s(`n = (`), s(`n = (`, 1), s(`nope = 1`), s(`n = $1`, make(chan int))} {
			_, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c", Where: c.text, Args: c.args}, fenec.NoCursor)
			require.Error(t, err, c.text)
			require.NotEqual(t, "[]", kinds(err), c.text)
		}
	})
}

// What the language has no word for is refused.
func TestConditionsThatCannotBeSent(t *testing.T) {
	db := inMemory(t, serve.Options{}).open(client.Options{})
	exec(t, db, `create collection c (raw bytes, f float)`)
	for _, arg := range []any{[]byte{1}, math.Inf(1)} {
		_, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c", Where: `raw = $1`, Args: []any{arg}}, fenec.NoCursor)
		require.ErrorIs(t, err, fenec.ErrType)
		require.ErrorContains(t, err, "parameter $1: ")
	}
}
