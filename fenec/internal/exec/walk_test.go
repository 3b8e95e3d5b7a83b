package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
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

// words returns what a statement answers in its one column.
func (db *testDB) words(text string) string {
	db.t.Helper()
	res := db.must(text).res
	var words []string
	for i := range res.Len() {
		v, err := res.Value(i, 0)
		require.NoError(db.t, err)
		words = append(words, v.AsText())
	}
	return strings.Join(words, " ")
}

func TestCollations(t *testing.T) {
	const words = "çam can iz ışık oda ördek şal su zeytin"
	for _, index := range []string{"", "@sorted", "@hash", "@unique"} {
		db := openTest(t, `create collection c (b text, u text collate und, t text collate tr, l [text] collate tr)`)
		if index != "" {
			db = openTest(t, strings.ReplaceAll(`create collection c (b text @, u text collate und @, t text collate tr @, l [text] collate tr)`, "@", index))
		}
		for w := range strings.FieldsSeq(words) {
			db.must(`put c {b: $1, u: $1, t: $1, l: $2}`, w, []any{"x", w})
		}
		const bytes, und, tr = "can iz oda su zeytin çam ördek ışık şal", "çam can iz ışık oda ördek şal su zeytin",
			"can çam ışık iz oda ördek su şal zeytin"
		for _, limit := range []string{"", " limit 9"} {
			for order, want := range map[string]string{
				"b": bytes, "u": und, "t": tr, "l": tr,
				"b collate und": und, "b collate tr": tr, "u collate tr": tr, "t collate und": und, "l collate und": und,
			} {
				require.Equal(t, want, db.words("get b from c order "+order+limit), order)
			}
			require.Equal(t, "zeytin şal su ördek oda iz ışık çam can", db.words("get b from c order t collate tr desc"+limit))
		}
		for where, want := range map[string]string{
			`t < "d"`: "çam can", `"d" > t`: "çam can", `u < "d"`: "çam can", `b < "d"`: "can",
			`t > "s" and t < "t"`: "şal su", `t >= "ş"`: "şal zeytin", `u >= "şal" and u <= "su"`: "şal su",
			`t > b`: "", `t = "çam"`: "çam", `t in ["can", "ş"]`: "can", `t ~ "Ş"`: "ışık şal",
			`l < ["x", "d"]`: "çam can", `l > ["x", "su"]`: "şal zeytin", `l = ["x", "su"]`: "su", `t > 5 and t < true`: "",
			`not t > "d"`: "çam can",
		} {
			require.Equal(t, want, db.words("get b from c where "+where), where)
		}
	}
}

// TestLongCollated sorts texts of which an index holds the beginning only.
func TestLongCollated(t *testing.T) {
	long := strings.Repeat("ç", 9000)
	for _, index := range []string{"", " @sorted"} {
		db := openTest(t, `create collection c (t text collate tr`+index+`)`)
		for _, end := range []string{"z", "ş", "s", "a", "", "Ş", "t"} {
			db.must(`put c {t: $1}`, long+end)
		}
		require.Equal(t, []uint64{5, 4, 3, 2, 6, 7, 1}, db.must("get c order t limit 7").ids(), index)
		require.Equal(t, []uint64{1, 7, 6, 2, 3, 4, 5}, db.must("get c order t desc").ids(), index)
		require.Equal(t, []uint64{2}, db.must("get c where t = $1", long+"ş").ids())
		require.Equal(t, []uint64{1, 6, 7}, db.must("get c where t > $1", long+"ş").ids())
	}
}

func TestCollateRefused(t *testing.T) {
	db := openTest(t, `create collection c (w text, n int, j json, l [int])`)
	for _, order := range []string{"n collate tr", "id collate und", "j collate tr", "j.a collate tr", "l collate und", "w collate de"} {
		db.fails(fault.Query, "get c order "+order)
		db.fails(fault.Query, "del c order "+order)
	}
	db.fails(fault.NotFound, "get c order nope collate tr")
	db.fails(fault.Query, "get c order sum(n)")
}

// TestWalkBesideExpired walks an index in the order in which rows expire.
func TestWalkBesideExpired(t *testing.T) {
	db := openTest(t, `create collection c (seen timestamp @ttl(1s), n int)`)
	for i := range int64(300) {
		db.must(`put c {seen: $1, n: $2}`, t0-1000+i-150, i)
	}
	for _, ms := range []int64{-200, -151, -150, -149, -1, 0, 1, 148, 149, 200} {
		db.now = t0 + ms
		var want []uint64
		for id := max(152+ms, 1); id <= 300 && len(want) < 5; id++ {
			want = append(want, uint64(id))
		}
		require.ElementsMatch(t, want, db.must("get c order seen limit 5").ids(), "after %d ms", ms)
		require.LessOrEqual(t, db.read("get c order seen limit 5"), 5)
		require.Equal(t, fmt.Sprintf(`[{"count":%d}]`, 300-min(max(151+ms, 0), 300)), db.must("get c count").json(t))
	}
}

func TestExpired(t *testing.T) {
	db := openTest(t, `create collection ses (who text @unique, seen timestamp @ttl(10m))`, `create collection plain (n int)`,
		`put ses [{who: "a", seen: now()}, {who: "b", seen: now() - 600000}, {who: "c", seen: now() - 599999}, {who: "d"}]`)
	for text, want := range map[string][]uint64{
		`get ses`:                                               {1, 3, 4},
		`get ses where expired()`:                               {2},
		`get ses where EXPIRED ()`:                              {2},
		`get ses where not expired()`:                           {1, 3, 4},
		`get ses where expired() or id = 4`:                     {2, 4},
		`get ses where expired() and id = 4`:                    {},
		`get ses where id = 2`:                                  {},
		`get ses where id in [1, 2]`:                            {1},
		`get ses where who = "b"`:                               {},
		`get ses where id in (get id from ses where expired())`: {},
		`get ses where expired() and id in (get id from ses where expired())`:  {2},
		`get ses where id in (get id from ses) and case when expired() then 1`: nil,
		`get ses where case when expired() then true end`:                      {2},
	} {
		if want == nil {
			db.fails(fault.Query, text)
			continue
		}
		require.Equal(t, want, db.must(text).ids(), text)
	}
	require.Equal(t, `[{"count":3}]`, db.must("get ses count").json(t))
	require.Equal(t, `[{"count":1}]`, db.must("get ses where expired() count").json(t))
	for _, text := range []string{
		`get plain where expired()`, `get plain where n = 1 and not expired()`, `get expired() as x from ses`, `set ses {who: expired()}`,
		`put ses {who: expired()}`, `get ses where expired(1)`, `get plain where n in (get n from plain where expired())`,
	} {
		db.fails(fault.Query, text)
	}
	require.Equal(t, 0, db.must(`set ses {seen: now()} where who = "b"`).affected)
	require.Equal(t, 0, db.must(`del ses where id = 2`).affected)
	require.Equal(t, 1, db.must(`set ses {seen: null} where expired()`).affected)
	require.Equal(t, []uint64{1, 2, 3, 4}, db.must("get ses").ids())
	db.now++
	require.Equal(t, []uint64{1, 2, 4}, db.must("get ses").ids())
	db.must(`alter collection ses alter seen @sorted`)
	require.Equal(t, []uint64{1, 2, 3, 4}, db.must("get ses").ids())
}
