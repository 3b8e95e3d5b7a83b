package fenec_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// A list that is given is looked for in the index on what it may have, and the
// answer is that of a scan.
func TestGivenListHas(t *testing.T) {
	db := memory(t)
	at := time.UnixMilli(1_790_784_252_158)
	values := map[string][]any{
		"text":             {"a", "b", "", nil, "2024-07-01", "long" + string(make([]byte, 2000)) + "1", "long" + string(make([]byte, 2000)) + "2"},
		"text collate und": {"a", "A", "b", nil, "\u00e9"},
		"int":              {1, 2, 3, -4, nil, int64(math.MaxInt64), int64(1)<<53 + 1, int64(1) << 53},
		"float":            {1.0, 2.5, nil, float64(1 << 53), math.Copysign(0, -1)},
		"bool":             {true, false, nil},
		"timestamp":        {at, at.Add(time.Hour), nil, "2024-07-01"},
		"json":             {1, 1.0, "a", nil, []any{"a"}, map[string]any{"k": 1}, true},
		"[text]":           {[]any{"a"}, []any{"a", "b"}, nil},
	}
	lists := []any{
		[]any{}, []any{"a"}, []any{"a", "b", nil}, []any{1, 2.5, true}, []any{1.0, int64(1)<<53 + 1, "2024-07-01"}, []any{at, "A"}, nil, "a", 1,
		[]any{[]any{"a"}, []any{1}, map[string]any{"k": 1.0}}, map[string]any{"a": 1}, []any{math.MaxInt64, float64(1 << 53), false, []byte("a")},
		[]float32{1, 2.5}, []any{values["text"][5], ""}, many(200),
	}
	for typ, list := range values {
		for _, index := range []string{"@hash", "@sorted"} {
			if index == "@sorted" && (typ == "bool" || typ == "json" || typ == "[text]") {
				continue
			}
			runAll(t, db, "create collection plain (f "+typ+", n int)", "create collection indexed (f "+typ+" "+index+", n int)")
			for i, v := range append(list, list...) {
				for _, c := range []string{"plain", "indexed"} {
					_, err := db.Exec(t.Context(), "put "+c+" {f: $1, n: $2}", v, i)
					require.NoError(t, err)
				}
			}
			for _, given := range lists {
				for _, where := range []string{"$1 has f", "$1 has f and n > 2", "not $1 has f", "$1 has f or n = 1", "$1 has id"} {
					for _, what := range []string{"", " count", " order n desc limit 3"} {
						text := func(c string) string { return "get " + c + " where " + where + what }
						require.Equal(t, body(t, db, text("plain"), given), body(t, db, text("indexed"), given), "%s %s: %s of %v", typ, index, where+what, given)
					}
				}
			}
			runAll(t, db, "drop collection plain", "drop collection indexed")
		}
	}
}

// many returns a list of n numbers.
func many(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// A policy whose condition is a list of the session's narrows its reads by an
// index.
func TestPolicyOfLists(t *testing.T) {
	db := memory(t, "create collection messages (room text @hash, n int)")
	for i := range 300 {
		_, err := db.Exec(t.Context(), "put messages {room: $1, n: $2}", fmt.Sprint("r", i%100), i)
		require.NoError(t, err)
	}
	policy, err := fenec.NewPolicy(fenec.Access{Collections: map[string]fenec.Grants{"messages": {
		Read: "$1 has room", Insert: `$1 has room or room in [$2, "lobby"]`,
	}}})
	require.NoError(t, err)
	ada, err := db.Session(policy, []string{"r3", "r7"}, "own")
	require.NoError(t, err)
	res, err := ada.Query(t.Context(), "get messages count")
	require.NoError(t, err)
	require.EqualValues(t, 6, firstInt(t, res))
	for room, want := range map[string]error{"r3": nil, "own": nil, "lobby": nil, "r4": fenec.ErrDenied} {
		_, err = ada.Exec(t.Context(), "put messages {room: $1}", room)
		require.ErrorIs(t, err, want, room)
	}
	plan := body(t, db, "explain get messages where $1 has room", []string{"r3", "r7"})
	require.Contains(t, plan, "index room @hash")
	require.NotContains(t, plan, "scan")
	_, err = db.Query(t.Context(), "get messages where 1 / $1 has room", 0)
	require.ErrorIs(t, err, fenec.ErrQuery, "the rows tell that the list fails")
}
