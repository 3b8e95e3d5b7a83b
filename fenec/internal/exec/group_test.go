package exec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

func openSales(t testing.TB) *testDB {
	return openTest(t, `create collection sale (cust text @hash, amt int, w float, at timestamp @sorted, m json)`,
		`put sale {cust: "ann", amt: 10, w: 0.5, at: "2026-03-01T10:00:00Z", m: {ch: "web"}}`,
		`put sale {cust: "bob", w: 1.5, at: "2026-03-01T10:20:00Z", m: {ch: "app"}}`,
		`put sale {cust: "ann", amt: 30, at: "2026-03-01T11:05:00Z", m: {ch: "web"}}`,
		`put sale {amt: 5, w: 2.0, at: "2026-03-02T00:00:00Z"}`,
		`put sale {cust: "bob", amt: 7, w: 1.0, m: {ch: "web"}}`,
	)
}

// rows returns the values of a result as a list of lists.
func (o outcome) rows(t testing.TB) string {
	var rows []string
	for i := range o.res.Len() {
		var row []string
		for c := range o.res.Columns() {
			v, err := o.res.Value(i, c)
			require.NoError(t, err)
			row = append(row, v.String())
		}
		rows = append(rows, "["+strings.Join(row, ",")+"]")
	}
	return "[" + strings.Join(rows, ",") + "]"
}

func TestAggregates(t *testing.T) {
	db := openSales(t)
	for text, want := range map[string]string{
		`get count(*), sum(amt), avg(amt), min(amt), max(amt), sum(w) from sale`:                             `[[5,52,13,5,30,5]]`,
		`get count(*), sum(amt) from sale where cust = "zed"`:                                                `[[0,null]]`,
		`get count(*), count() as n from sale where amt > 6`:                                                 `[[3,3]]`,
		`get sum(amt * 2) as s from sale`:                                                                    `[[104]]`,
		`get sum(amt) / count(*) as s from sale`:                                                             `[[10]]`,
		`get max(amt) - min(amt) as s from sale`:                                                             `[[25]]`,
		`get min(cust), max(at) from sale`:                                                                   `[["ann","2026-03-02T00:00:00Z"]]`,
		`get count(distinct cust) from sale`:                                                                 `[[2]]`,
		`get count(distinct m.ch), count(distinct m), Count(distinct id) as n from sale`:                     `[[2,2,5]]`,
		`get first(amt), last(amt) from sale`:                                                                `[[10,7]]`,
		`get first(amt by at), last(amt by at) from sale`:                                                    `[[10,5]]`,
		`get first(cust by m.ch), last(cust by m.ch), first(id by cust), last(id by cust) from sale`:         `[["bob","bob",1,5]]`,
		`get avg(w), min(w), max(w) from sale`:                                                               `[[1.25,0.5,2]]`,
		`get avg(w), min(w), max(w), first(w), last(w), sum(w), count(distinct w) from sale where w is null`: `[[null,null,null,null,null,null,0]]`,
		`get min(amt > 8) as a, max(amt > 8) as b, first(m) as c from sale`:                                  `[[false,true,{"ch":"web"}]]`,
		`get sum(id), sum(case when cust = "ann" then amt else 0.5 end) as s from sale`:                      `[[15,41.5]]`,
		`get count(*) + $1 as n from sale`:                                                                   `[[6]]`,
		`get coalesce(sum(amt), 0) as n from sale where id in (get max(id) from sale)`:                       `[[7]]`,
		`get sale where amt in (get max(amt) from sale) select cust`:                                         `[["ann"]]`,

		`get cust, count(*), sum(amt) from sale group cust`:                                         `[[null,1,5],["ann",2,40],["bob",2,7]]`,
		`get cust, count(*) as n from sale group by cust order n desc`:                              `[["ann",2],["bob",2],[null,1]]`,
		`get cust, sum(amt) from sale group cust order sum(amt) desc limit 1`:                       `[["ann",40]]`,
		`get cust, sum(amt) as s from sale group cust order sum(amt) desc limit 1`:                  `[["ann",40]]`,
		`get cust, sum(amt) from sale group cust order cust desc`:                                   `[["bob",7],["ann",40],[null,5]]`,
		`get cust, count(*) from sale group cust limit 1 offset 1`:                                  `[["ann",2]]`,
		`get cust, count(*) from sale group cust limit 5 offset 9`:                                  `[]`,
		`get cust, count(*) from sale group cust limit 0`:                                           `[]`,
		`get cust, count(*) from sale group cust having count(*) > 1`:                               `[["ann",2],["bob",2]]`,
		`get cust, count(*) from sale group cust having sum(amt) > 6`:                               `[["ann",2],["bob",2]]`,
		`get cust, count(*) as n from sale group cust having n = 1`:                                 `[[null,1]]`,
		`get cust, count(*) from sale group cust having count = 1 and cust is null`:                 `[[null,1]]`,
		`get cust, count(*) from sale group cust having sum(amt) > $1`:                              `[[null,1],["ann",2],["bob",2]]`,
		`get cust, count(*) from sale group cust having cust in (get cust from sale where w = 1.5)`: `[["bob",2]]`,
		`get cust, count(*) from sale group cust count`:                                             `[[3]]`,
		`get cust, count(*) from sale group cust having count(*) > 1 count`:                         `[[2]]`,
		`get bucket(at, 1h) as h, count(*) from sale group h`:                                       `[[null,1],["2026-03-01T10:00:00Z",2],["2026-03-01T11:00:00Z",1],["2026-03-02T00:00:00Z",1]]`,
		`get bucket(at, 1h) as h, count(*) from sale group Bucket(at, 1h) having h is null`:         `[[null,1]]`,
		`get m.ch, count(*) from sale group m.ch`:                                                   `[[null,1],["app",1],["web",3]]`,
		`get cust, m.ch, count(*) from sale group cust, m.ch`:                                       `[[null,null,1],["ann","web",2],["bob","app",1],["bob","web",1]]`,
		`get amt > 8 as big, count(*) from sale group big`:                                          `[[false,3],[true,2]]`,
		`get amt > 8 as cust, count(*) from sale group cust`:                                        `[[false,3],[true,2]]`,
		`get upper(cust) + "!" as u, count(*) from sale group cust order u desc`:                    `[["BOB!",2],["ANN!",2],[null,1]]`,
		`get count(*) from sale group cust`:                                                         `[[1],[2],[2]]`,
		`get cust, sum(amt) from sale group cust require 3`:                                         `[[null,5],["ann",40],["bob",7]]`,
		`get cust, count(*) from sale where id = 99 group cust`:                                     `[]`,
		`get cust as c, min(cust) as d, count(*) from sale group cust order d, c`:                   `[[null,null,1],["ann","ann",2],["bob","bob",2]]`,
		`get sum(amt) / (count(*) - 2) as x, cust, count(*) from sale group cust limit 1`:           `[[-5,null,1]]`,
	} {
		out, err := db.run(text, 1)
		require.NoError(t, err, text)
		require.Equal(t, want, out.rows(t), text)
	}
}

func TestAggregateColumns(t *testing.T) {
	db := openSales(t)
	out := db.must(`get m.ch, count(*), SUM( amt ), count( distinct cust ), last(amt by  at), sum(amt*2) as s from sale group m.ch limit 1`)
	require.Equal(t, []string{"m.ch", "count", "SUM(amt)", "count(distinct cust)", "last(amt by at)", "s"}, out.res.Columns())
	require.Equal(t, `[{"m.ch":null,"count":1,"SUM(amt)":5,"count(distinct cust)":0,"last(amt by at)":5,"s":10}]`, out.json(t))
}

func TestAggregatesRefused(t *testing.T) {
	db := openSales(t)
	db.must(`create collection odd (b bytes, l [int], v vector<2>, j json, t text, at timestamp, ok bool)`)
	for text, want := range map[string]fault.Kind{
		`get sum(cust) from sale`:                                           fault.Type,
		`get sum(nope) from sale`:                                           fault.NotFound,
		`get cust, count(*) from sale`:                                      fault.Query,
		`get cust from sale group cust`:                                     fault.Query,
		`get sale group cust`:                                               fault.Query,
		`get * from sale group cust`:                                        fault.Query,
		`get amt, count(*) from sale group cust`:                            fault.Query,
		`get count(*) from sale group sum(amt)`:                             fault.Query,
		`get sum(amt) as cust, count(*) from sale group cust`:               fault.Query,
		`get sum(sum(amt)) from sale`:                                       fault.Query,
		`get count(cust) from sale`:                                         fault.Query,
		`get sum(distinct amt) from sale`:                                   fault.Query,
		`get min(amt, w) from sale`:                                         fault.Query,
		`get sum(amt), sum(amt) from sale`:                                  fault.Query,
		`get cust, cust, count(*) from sale group cust`:                     fault.Query,
		`get sum(amt) as a, sum(w) as a from sale`:                          fault.Query,
		`get count(*) + 1 from sale`:                                        fault.Query,
		`get count(*) from sale limit 1`:                                    fault.Query,
		`get count(*) from sale offset 1`:                                   fault.Query,
		`get count(*) from sale order cust`:                                 fault.Query,
		`get count(*) from sale count`:                                      fault.Query,
		`get count(*) from sale require 1`:                                  fault.Query,
		`get count(*) from sale facet cust`:                                 fault.Query,
		`get count(*) from sale lookup sale on cust`:                        fault.Query,
		`get cust, count(*) from sale group cust order amt`:                 fault.Query,
		`get cust, count(*) from sale group cust order nope`:                fault.NotFound,
		`get cust, count(*) from sale group cust order sum(amt)`:            fault.Query,
		`get cust, count(*) from sale group cust count limit 1`:             fault.Query,
		`get cust, count(*) from sale group cust facet cust`:                fault.Query,
		`get cust, count(*) from sale group cust having amt > 1`:            fault.Query,
		`get cust, count(*) from sale group cust having nope > 1`:           fault.NotFound,
		`get nope, count(*) from sale group nope`:                           fault.NotFound,
		`get nope, count(*) from sale group cust`:                           fault.NotFound,
		`get sale having count(*) > 1`:                                      fault.Query,
		`get cust, count(*) from sale group cust require 2`:                 fault.Unmet,
		`get cust.x, count(*) from sale group cust.x`:                       fault.Type,
		`get sale where count(*) > 1`:                                       fault.Query,
		`get sum(m.ch) from sale`:                                           fault.Type,
		`get sum(cust + "x") as s from sale`:                                fault.Type,
		`get min(m) from sale`:                                              fault.Type,
		`get sum(b) from odd`:                                               fault.Type,
		`get sum(at) from odd`:                                              fault.Type,
		`get avg(ok) from odd`:                                              fault.Type,
		`get min(l) from odd`:                                               fault.Type,
		`get max(v) from odd`:                                               fault.Type,
		`get max(b) from odd`:                                               fault.Type,
		`get hll_combine(t) from odd`:                                       fault.Type,
		`get 1 / (sum(amt) - 52) as x from sale`:                            fault.Query,
		`get amt, count(*) from sale group amt order amt collate tr`:        fault.Query,
		`get cust, count(*) from sale group cust order count collate tr`:    fault.Query,
		`get cust, sum(amt) from sale group cust order sum(amt) collate tr`: fault.Query,
	} {
		db.fails(want, text)
	}
	require.Equal(t, `[[null,null,0]]`, db.must(`get min(t), first(v), count(*) from odd`).rows(t))
}

func TestSums(t *testing.T) {
	db := openTest(t, `create collection t (i int, f float, j json)`)
	const most = `9223372036854775807`
	sum := func(column, where string) (outcome, error) {
		return db.run(`get sum(` + column + `) from t where ` + where)
	}
	db.must(`put t [{i: ` + most + `, j: ` + most + `}, {i: 1, j: 1}, {i: -1, j: -1}, {i: -2, f: 3, j: 0.5}, {f: 1e308}, {f: 1e308}]`)
	for where, want := range map[string]string{
		`id = 1`: most, `id <= 3`: most, `id in [1, 4]`: `9223372036854775805`, `id in [3, 4]`: `-3`, `id = 5`: `null`,
	} {
		out, err := sum("i", where)
		require.NoError(t, err)
		require.Equal(t, `[[`+want+`]]`, out.rows(t), where)
	}
	_, err := sum("i", "id <= 2")
	require.Equal(t, fault.Query, fault.KindOf(err))
	_, err = sum("f", "id > 4")
	require.Equal(t, fault.Query, fault.KindOf(err), "not finite")
	_, err = sum("j", "id <= 2")
	require.Equal(t, fault.Query, fault.KindOf(err))

	for where, want := range map[string]string{"id in [2, 3]": "int 0", "id in [2, 4]": "float 1.5", "id in [1, 2, 4]": "float 9223372036854776000"} {
		out, err := sum("j", where)
		require.NoError(t, err)
		v, err := out.res.Value(0, 0)
		require.NoError(t, err)
		require.Equal(t, want, v.Kind().String()+" "+v.String(), where)
	}
	v, err := db.must(`get sum(f) from t where id = 4`).res.Value(0, 0)
	require.NoError(t, err)
	require.Equal(t, "float 3", v.Kind().String()+" "+v.String(), "a float field, though its values are whole")
	require.Equal(t, `[[4611686018427388000]]`, db.must(`get avg(i) from t where id in [1, 2]`).rows(t), "no overflow")
}

// TestFormsOfNumbers tells ints from floats in json.
func TestFormsOfNumbers(t *testing.T) {
	db := openTest(t, `create collection t (j json)`, `put t [{j: 3}, {j: 3.0}, {j: 3}, {j: 2.5}, {j: null}, {j: "3"}, {j: [3]}, {j: [3.0]}]`)
	require.Equal(t, `[[null,1],[2.5,1],[3,2],[3,1],["3",1],[[3],1],[[3],1]]`, db.must(`get j, count(*) from t group j`).rows(t))
	require.Equal(t, `[[6]]`, db.must(`get count(distinct j) from t`).rows(t))
	require.Equal(t, `[[3,2]]`, db.must(`get j, count(*) from t group j order count desc limit 1`).rows(t))
}

func TestCollatedGroups(t *testing.T) {
	db := openTest(t, `create collection t (s text collate tr, plain text, n int, l [text] collate tr)`)
	for i, s := range []string{"zil", "çam", "cam", "ızgara", "ikaz", "Çam"} {
		db.must(`put t {s: $1, plain: $1, n: $2, l: $3}`, s, i%2, []any{s})
	}
	byBytes, collated := `[["cam"],["ikaz"],["zil"],["Çam"],["çam"],["ızgara"]]`, `[["cam"],["çam"],["Çam"],["ızgara"],["ikaz"],["zil"]]`
	named := func(clauses string) string {
		text := `get s, plain, count(*) as n from t group s, plain ` + clauses
		var got []string
		out := db.must(text)
		for i := range out.res.Len() {
			v, err := out.res.Value(i, 0)
			require.NoError(t, err)
			got = append(got, "["+v.String()+"]")
		}
		return "[" + strings.Join(got, ",") + "]"
	}
	require.Equal(t, byBytes, named(``))
	require.Equal(t, collated, named(`order s`))
	require.Equal(t, byBytes, named(`order plain`))
	require.Equal(t, collated, named(`order plain collate tr`))
	require.Equal(t, `[["cam","zil","cam","zil","cam","ızgara"]]`,
		db.must(`get min(s), max(s), first(s by s) as a, last(s by s) as b, min(plain), max(plain) from t`).rows(t))
	require.Equal(t, `[[1,"çam"],[0,"cam"]]`, db.must(`get n, min(s) from t group n order min(s) desc`).rows(t))
	require.Equal(t, `[["cam"]]`, db.must(`get first(s by l) as a from t`).rows(t))
}

// TestFirstAndLast has ties and nulls.
func TestFirstAndLast(t *testing.T) {
	db := openTest(t, `create collection t (e text, k int @sorted)`,
		`put t [{e: null, k: 0}, {e: "b", k: 1}, {e: "c", k: 1}, {e: "d"}, {e: "e", k: 2}, {e: "f", k: 2}, {k: 3}]`)
	require.Equal(t, `[["b","f","b","f","b","f"]]`,
		db.must(`get first(e), last(e), first(e by k), last(e by k), last(e by -id) as x, first(e by -id) as y from t`).rows(t))
	require.Equal(t, `[["b","f"]]`, db.must(`get first(e), last(e) from t where k < 100`).rows(t), "by id though an index is used")
}

// TestGroupsOfAnIndex counts the entries of an index where that is enough, and
// rows elsewhere.
func TestGroupsOfAnIndex(t *testing.T) {
	db := openTest(t, `create collection t (k text @hash, n int @sorted, f float @sorted, plain int)`)
	docs := make([]any, 4000)
	for i := range docs {
		docs[i] = map[string]any{"n": i, "f": float64(i % 2), "plain": i % 3}
		if i%4 > 0 {
			docs[i].(map[string]any)["k"] = "k" + strings.Repeat("x", i%4)
		}
	}
	db.must(`put t $1`, docs)
	db.must(`del t where id = 2`)
	by := func(text string) string { return strings.Split(db.must("explain "+text).json(t), ";")[0] }
	const entries, scan = `[{"plan":"filter: count of the entries of `, `[{"plan":"filter: scan of all rows`
	for text, want := range map[string]string{
		`get k, count(*) from t group k`:                            entries,
		`get k, count(*) as n, count() as m from t group k order n`: entries,
		`get count(*) from t group k having k = "kx"`:               entries,
		`get k, count(*) from t group k count`:                      entries,
		`get n, count(*) from t group n limit 3`:                    scan,
		`get f, count(*) from t group f`:                            scan,
		`get plain, count(*) from t group plain`:                    scan,
		`get k, count(*), sum(n) from t group k`:                    scan,
		`get k, plain, count(*) from t group k, plain`:              scan,
		`get upper(k) as u, count(*) from t group u`:                scan,
		`get k, count(*) from t where not plain = 7 group k`:        scan,
	} {
		require.True(t, strings.HasPrefix(by(text), want), "%s: %s", text, by(text))
	}
	require.Equal(t, `[[null,1000],["kx",999],["kxx",1000],["kxxx",1000]]`, db.must(`get k, count(*) from t group k`).rows(t))
	require.Equal(t, `[[0,1],[2,1]]`, db.must(`get n, count(*) from t group n limit 2`).rows(t))
	db.must(`put t [{k: $1}, {k: $2}]`, strings.Repeat("x", 20_000)+"a", strings.Repeat("x", 20_000)+"b")
	require.True(t, strings.HasPrefix(by(`get k, count(*) from t group k`), scan), "keys that are cut tell too little")
	require.Equal(t, `[[6]]`, db.must(`get k, count(*) from t group k count`).rows(t))
}

func TestManyDistinctValues(t *testing.T) {
	if testing.Short() {
		t.Skip("a million documents")
	}
	db := openTest(t, `create collection t (n int)`)
	const step = 10_000
	for i := 0; i < 510_000; i += step {
		docs := make([]any, step)
		for j := range docs {
			docs[j] = map[string]any{"n": i + j}
		}
		db.must(`put t $1`, docs)
	}
	require.Equal(t, `[[510000,1]]`, db.must(`get count(distinct n), count(distinct n / 1000000) as m from t`).rows(t))
	db.fails(fault.Query, `get count(distinct n), count(distinct id) from t`)
	require.Equal(t, `[[510000]]`, db.must(`get n, count(*) from t group n count`).rows(t))
	require.Equal(t, `[[509999,1],[509998,1]]`, db.must(`get n, count(*) from t group n order n desc limit 2`).rows(t))
	require.Equal(t, `[[509998,1],[509999,1]]`, db.must(`get n, count(*) from t group n offset 509998`).rows(t))
	require.Equal(t, `[[1000,-1000,1],[1001,-1001,1]]`, db.must(`get n, max(-n) as m, count(*) from t group n order m desc limit 2 offset 1000`).rows(t))
}
