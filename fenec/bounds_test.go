package fenec_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// TestBounds goes to each bound of the language and one past it: what is past it
// is refused, also within a write, and changes nothing.
func TestBounds(t *testing.T) {
	sequential(t)
	nested := func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	db := memory(t,
		"create collection many (n int @hash, one int, big int)",
		"create collection few (n int)", "put few {n: 1}")
	docs := make([]map[string]any, 100_001)
	for i := range docs {
		docs[i] = map[string]any{"n": i, "one": 1}
	}
	query(t, db, "put many $1", docs)
	query(t, db, "set many {big: $1} where id <= 2", int64(math.MaxInt64))

	for _, text := range []string{
		"get few where n = " + nested(511),
		"get many where n < 10000 limit 0 facet n",
		"get many limit 0 facet n top 10000",
		"get few where n in (get n from many where n < 100000)",
		"get sum(big) from many where id = 1",
		"get count(distinct n) from many",
	} {
		query(t, db, text)
	}
	before := unchanged(t, db)
	for _, tc := range []struct{ text, names string }{
		{"get few where n = " + nested(513), "512"},
		{"get many where n < 10001 limit 0 facet n", "10000"},
		{"get many limit 0 facet n top 10001", "10000"},
		{"get few where n in (get n from many)", "100000"},
		{"set few {n: 2} where n in (get n from many)", "100000"},
		{"del few where not n in (get n from many)", "100000"},
		{"get sum(big) from many where id <= 2", "sum"},
		{"set few {n: 2} where n in (get sum(big) from many)", "sum"},
		{"get few where n = $1", "$1"},
		{"set few {n: $2} where n = 1", "$2"},
		{"put few {n: $1}", "$1"},
		{"put few {n: 9223372036854775807 + 1}", "64 bits"},
		{"set few {n: n / 0}", "zero"},
	} {
		_, err := db.Query(t.Context(), tc.text)
		require.ErrorIs(t, err, fenec.ErrQuery, tc.text)
		require.ErrorContains(t, err, tc.names, tc.text)
		_, err = db.Batch(t.Context(), []fenec.Statement{{Text: "put few {n: 7}"}, {Text: tc.text}})
		require.ErrorIs(t, err, fenec.ErrQuery, tc.text)
		require.Equal(t, before, unchanged(t, db), tc.text)
	}
}
