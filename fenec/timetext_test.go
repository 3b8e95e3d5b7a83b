package fenec_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// Json has texts for times, and a time takes them; a text is no time.
func TestScanTimesOfJSON(t *testing.T) {
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	at := time.Date(2026, 3, 1, 9, 5, 7, 0, time.UTC)
	_, err = db.Exec(t.Context(), `create collection c (j json, s text)`)
	require.NoError(t, err)
	doc := map[string]any{"at": at, "list": []time.Time{at}, "map": map[string]time.Time{"k": at}, "word": "x"}
	_, err = db.Exec(t.Context(), `put c {j: $1, s: $2}`, doc, at)
	require.NoError(t, err)
	res, err := db.Query(t.Context(), `get c select j.at as at, j.list as list, j.map as map, j.word as word, s`)
	require.NoError(t, err)
	require.True(t, res.Next())

	var one *time.Time
	var list []time.Time
	var byKey map[string]time.Time
	var word any
	var text string
	require.NoError(t, res.Scan(&one, &list, &byKey, &word, &text))
	require.Equal(t, at, *one)
	require.Equal(t, []time.Time{at}, list)
	require.Equal(t, map[string]time.Time{"k": at}, byKey)

	type loop []loop
	var endless loop
	require.ErrorIs(t, res.Row().Scan(&endless, &list, &byKey, &word, &text), fenec.ErrType)

	for _, name := range []string{"word", "s"} {
		_, err := res.Row().Time(name)
		require.ErrorIs(t, err, fenec.ErrType, name)
	}
	var into struct {
		At   time.Time
		List []*time.Time
	}
	require.NoError(t, res.Row().ScanStruct(&into))
	require.Equal(t, at, into.At)
	require.Equal(t, at, *into.List[0])
}
