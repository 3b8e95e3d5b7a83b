package fenec_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
)

// Statements that answer in the memory of others answer what they answer in their
// own, of whatever kind the one before was.
func TestQueryInto(t *testing.T) {
	db := memory(t, "create collection item (name text @unique, g int @hash, body text)",
		"create collection part (of int @hash, name text)")
	for i := range 200 {
		_, err := db.Exec(t.Context(), "put item {name: $1, g: $2, body: $3}",
			fmt.Sprintf("item %d", i), i%7, fmt.Sprintf("%*d", 1+i*13%400, i))
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), "put part {of: $1, name: $2}", i%50+1, fmt.Sprintf("part %d", i))
		require.NoError(t, err)
	}
	texts := []string{
		"get item where id = 7",
		"get item",
		"get item where id = 999",
		"get name, g + 1 as next from item where g = 3 limit 10",
		"get id from item where g = 3",
		"get item where id in (get of from part where name = 'part 9')",
		"get item count",
		"get g, count(*) as n from item group g",
		"get item where g = 2 limit 3 facet g",
		"get item limit 3 lookup part on of",
		"collections",
		"describe item",
		"put item {id: 5, name: 'item 4'}",
		"get item where name = 'item 4'",
		"get item where nothing = 4",
	}
	var into *fenec.Result
	for i := range 4 * len(texts) * len(texts) {
		text := texts[i*i%len(texts)]
		if i%2 == 0 {
			text = texts[i/2%len(texts)]
		}
		want, wrong := db.Query(t.Context(), text)
		got, err := inside.Query(t.Context(), db, into, text, nil)
		if wrong != nil {
			require.EqualError(t, err, wrong.Error())
			continue
		}
		require.NoError(t, err)
		res := got.(*fenec.Result)
		require.Equal(t, want.Kind(), res.Kind(), text)
		require.Equal(t, want.Columns(), res.Columns(), text)
		require.Equal(t, want.Len(), res.Len(), text)
		wantJSON, err := want.AppendJSON(nil)
		require.NoError(t, err)
		gotJSON, err := res.AppendJSON(nil)
		require.NoError(t, err)
		require.Equal(t, string(wantJSON), string(gotJSON), text)
		res.Next()
		into = res
	}
	inside.Recycle(into)
	require.Zero(t, into.Len())
	require.False(t, into.Next())
}
