package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTies pages through rows that tie, in every direction, with an index and
// without.
func TestTies(t *testing.T) {
	var docs strings.Builder
	long := strings.Repeat("x", 20_000)
	for i := range 1500 {
		k := fmt.Sprint(i % 3)
		if i%7 == 0 {
			k = "null"
		}
		text := "t"
		switch i % 100 {
		case 0:
			text = long + fmt.Sprint(9-i%900/100)
		case 1:
			text = long
		}
		fmt.Fprintf(&docs, `{k: %s, s: "%s"}`, k, text)
	}
	indexed := openTest(t, `create collection c (k int @sorted, s text @sorted)`, "put c "+docs.String())
	plain := openTest(t, `create collection c (k int, s text)`, "put c "+docs.String())
	for _, where := range []string{
		"", "where k > 0", "where k = 1", "where k is null or k = 2", "where k = 1 and id > 900 or k = 1 and id < 300",
		"where k = 1 and id > 900 or k > 1", "where k in [2, 0] and id > 50 and id < 700", "where k = 1 and id < 30 or k = 0 and id > 1400",
		`where s = "t"`, `where s > "t"`, `where s >= "x"`,
	} {
		for _, order := range []string{
			"k", "k desc", "k, id desc", "k desc, id desc", "s", "s desc", "s, id desc", "s desc, id desc", "id desc", "id",
		} {
			for _, page := range []string{"limit 1", "limit 30", "limit 60 offset 20", "limit 100 offset 1000", "limit 2000", ""} {
				text := strings.Join([]string{"get c", where, "order", order, page}, " ")
				require.Equal(t, plain.must(text).ids(), indexed.must(text).ids(), text)
			}
		}
	}
}

// TestPaging reads a collection page by page, each from where the last one
// ended.
func TestPaging(t *testing.T) {
	db := openTest(t, `create collection c (k int @sorted)`)
	var docs strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&docs, `{k: %d}`, i*7%50)
	}
	db.must("put c " + docs.String())
	want := db.must("get c order k").ids()
	var got []uint64
	k, id := int64(-1), uint64(0)
	for {
		const page = `get k, id from c where k > $1 or k = $1 and id > $2 order k, id limit 7`
		res := db.must(page, k, int64(id)).res
		require.LessOrEqual(t, db.read(page, k, int64(id)), 7)
		for i := range res.Len() {
			got = append(got, res.ID(i))
			v, err := res.Value(i, 0)
			require.NoError(t, err)
			k, id = v.AsInt(), res.ID(i)
		}
		if res.Len() < 7 {
			break
		}
	}
	require.Equal(t, want, got)
}
