package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

func openItems(t testing.TB) *testDB {
	return openTest(t, `create collection item (sku text @unique, name text, kind text @hash, price int @sorted, qty int, ratio float, tags [text], at timestamp @sorted, live bool)`,
		`put item {sku: "A1", name: "Anvil", kind: "tool", price: 50, qty: 3, ratio: 1.5, tags: ["iron", "heavy"], at: "2026-01-01T00:00:00Z", live: true}`,
		`put item {sku: "B2", name: "bolt", kind: "part", price: 5, qty: 200, ratio: 0.25, tags: ["iron"], at: "2026-01-02", live: true}`,
		`put item {sku: "C3", name: "Çekiç", kind: "tool", price: 20, tags: [], at: "2026-01-03T12:00:00Z", live: false}`,
		`put item {sku: "D4", name: "drill", kind: "tool", price: 120, qty: 1, ratio: 2.0, tags: ["power", "heavy"], live: true}`,
		`put item {sku: "E5", qty: 7, ratio: -0.5, at: "2026-01-02T00:00:00.250Z"}`,
		`create collection void (a int)`,
		`create collection child (item int @hash, n int)`,
		`put child [{item: 1, n: 1}, {item: 2, n: 5}, {item: 4, n: 1}, {item: 4, n: 2}]`,
	)
}

// facetText returns the facets of a result as "kind: "tool" 3, null 1".
func (o outcome) facetText() string {
	var out []string
	for _, f := range o.res.Facets() {
		text := f.Name + ":"
		for i, c := range f.Counts {
			if i > 0 {
				text += ","
			}
			text += fmt.Sprintf(" %s %d", c.Value, c.Count)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestFacets(t *testing.T) {
	db := openItems(t)
	for text, want := range map[string]string{
		`get item limit 1 facet kind`:                                                    `1|kind: "tool" 3, null 1, "part" 1`,
		`get item facet kind top 1 limit 0`:                                              `|kind: "tool" 3`,
		`get item limit 0 facet tags`:                                                    `|tags: "heavy" 2, "iron" 2, null 1, "power" 1`,
		`get item limit 0 facet price ranges [0, 20, 100]`:                               `|price: [0,20] 1, [20,100] 2`,
		`get item limit 0 facet price ranges [500, 600]`:                                 `|price: [500,600] 0`,
		`get item limit 0 facet ratio ranges [-0.5, 0, 0.25, 1.5, 2]`:                    `|ratio: [-0.5,0] 1, [0,0.25] 0, [0.25,1.5] 1, [1.5,2] 1`,
		`get item limit 0 facet at ranges [1767225600000, 1767312000000]`:                `|at: [1767225600000,1767312000000] 1`,
		`get item limit 0 facet id ranges [2, 4], id.x top 3`:                            `type error`,
		`get item limit 0 facet id ranges [2, 4]`:                                        `|id: [2,4] 2`,
		`get item where id < 3 order id desc facet id top 1`:                             `2,1|id: 1 1`,
		`get item where kind = "tool" and live = true facet kind disjunctive, live`:      `1,4|kind: "tool" 2, "part" 1; live: true 2`,
		`get item where kind = "tool" and live facet live, kind disjunctive`:             `1,4|live: true 2; kind: "tool" 2, "part" 1`,
		`get item where kind = "tool" and $1 = 1 and kind != "x" facet kind disjunctive`: `1,3,4|kind: "tool" 3, null 1, "part" 1`,
		`get item where (kind = "tool" or kind = "part") and price > 10 facet price ranges [0, 50, 200] disjunctive, kind disjunctive`: `1,3,4|price: [0,50] 2, [50,200] 2; kind: "tool" 3`,
		`get item where kind = "none" facet kind`:                                                       `|kind:`,
		`get item where kind = "none" facet kind disjunctive`:                                           `|kind: "tool" 3, null 1, "part" 1`,
		`get item where price in (get max(price) from item where kind = "tool") facet kind disjunctive`: `4|kind: "tool" 1`,
		`get item where kind in (get kind from item where price = 5) facet kind disjunctive`:            `2|kind: "tool" 3, null 1, "part" 1`,
		`get item where id <= 3 order price desc limit 1 offset 1 facet live`:                           `3|live: true 2, false 1`,
		`get item facet kind lookup child on item required where n = 1`:                                 `1,4|kind: "tool" 2`,
		`get void facet a`:                                                   `|a:`,
		`get item facet kind, kind`:                                          `query error`,
		`get item facet price ranges [20, 0]`:                                `query error`,
		`get item facet price ranges [20]`:                                   `query error`,
		`get item facet kind ranges [0, 1]`:                                  `query error`,
		`get item facet tags ranges [0, 1]`:                                  `query error`,
		`get item facet live ranges [0, 1]`:                                  `query error`,
		`get item facet price ranges [0, 1] top 2`:                           `query error`,
		`get item facet kind top 0`:                                          `query error`,
		`get item facet kind top 10001`:                                      `query error`,
		`get item facet nope`:                                                `not found`,
		`get void facet nope`:                                                `not found`,
		`get item where kind = "tool" or live = true facet kind disjunctive`: `query error`,
		`get item where kind = name and live facet kind disjunctive`:         `query error`,
		`get item where kind in (get kind from item where id = price) or live facet kind disjunctive`: `query error`,
	} {
		out, err := db.run(text, 1)
		if err != nil {
			require.Equal(t, want, fault.KindOf(err).String(), "%s: %v", text, err)
			continue
		}
		ids := make([]string, 0)
		for _, id := range out.ids() {
			ids = append(ids, fmt.Sprint(id))
		}
		require.Equal(t, want, strings.Join(ids, ",")+"|"+out.facetText(), text)
	}
}

func TestFacetJSON(t *testing.T) {
	db := openItems(t)
	require.Equal(t, `{"rows":[{"id":1}],"facets":{"kind":[{"value":"tool","count":3},{"value":null,"count":1},{"value":"part","count":1}],`+
		`"price":[{"value":[0,20],"count":1},{"value":[20,100.5],"count":2}]}}`,
		db.must(`get id from item limit 1 facet kind, price ranges [0, 20, 100.5]`).json(t))
	require.Equal(t, `{"rows":[{"count":3}],"facets":{"live":[{"value":true,"count":2},{"value":false,"count":1}]}}`,
		db.must(`get item where kind = "tool" count facet live`).json(t))
	require.Equal(t, `{"rows":[],"facets":{"a":[]}}`, db.must(`get void facet a`).json(t))
}

// TestFacetsOfJSON tells numbers apart by their form and counts the elements of
// lists.
func TestFacetsOfJSON(t *testing.T) {
	db := openTest(t, `create collection t (j json, n [int])`,
		`put t [{j: {a: 3}, n: [1, 1, 25]}, {j: {a: 3.0}, n: []}, {j: {a: 3}, n: [12, 15]}, {j: {a: ["x", 3, "x"]}}, {j: {a: []}}, {j: 5, n: [30]}]`)
	require.Equal(t, `j.a: 3 3, null 1, 3 1, "x" 1; n: null 2, 1 1, 12 1, 15 1, 25 1, 30 1`, db.must(`get t facet j.a, n`).facetText())
	require.Equal(t, `j.a: [0,3] 0, [3,4] 4; n: [0,10] 1, [10,20] 1, [20,30] 1`,
		db.must(`get t facet j.a ranges [0, 3, 4], n ranges [0, 10, 20, 30]`).facetText())
	require.Equal(t, `j.a: 3 1, 3 1`, db.must(`get t where j.a = 3 and id < 3 facet j.a`).facetText())
	require.Equal(t, `j.a: 3 3, null 1, 3 1, "x" 1`, db.must(`get t where j.a = 3 limit 0 facet j.a disjunctive`).facetText())
}

func TestTooManyFacetValues(t *testing.T) {
	db := openTest(t, `create collection t (n int)`)
	docs := make([]any, 10_000)
	for i := range docs {
		docs[i] = map[string]any{"n": i / 2 * 2}
	}
	db.must(`put t $1`, docs)
	db.must(`put t $1`, docs[:0])
	require.Len(t, db.must(`get t limit 0 facet id`).res.Facets()[0].Counts, 10_000)
	db.must(`put t {n: 0}`)
	db.fails(fault.Query, `get t limit 0 facet id`)
	require.Equal(t, `n: 0 3, 2 2`, db.must(`get t limit 0 facet n top 2`).facetText())
	require.Len(t, db.must(`get t limit 0 facet id top 10000`).res.Facets()[0].Counts, 10_000)
}

// TestExpiredRowsAreNotCounted has rows that expire an hour after their time.
func TestExpiredRowsAreNotCounted(t *testing.T) {
	db := openTest(t, `create collection t (k text, at timestamp @ttl(1h))`,
		`put t [{k: "a", at: "2026-05-31T22:00:00Z"}, {k: "a", at: "2026-05-31T23:30:00Z"}, {k: "b"}, {k: "b", at: "2020-01-01"}]`)
	require.Equal(t, `[["a",1],["b",1]]`, db.must(`get k, count(*) from t group k`).rows(t))
	require.Equal(t, `[[2]]`, db.must(`get count(*) from t`).rows(t))
	require.Equal(t, `[["a",1],["b",1]]`, db.must(`get k, count(*) from t where expired() group k`).rows(t))
	require.Equal(t, `k: "a" 1, "b" 1`, db.must(`get t facet k`).facetText())
	require.Equal(t, `k: "a" 1, "b" 1`, db.must(`get t where k = "a" facet k disjunctive`).facetText())
	require.Equal(t, `k: "a" 1, "b" 1`, db.must(`get t where expired() and k = "a" facet k disjunctive`).facetText())
	db.fails(fault.Query, `get t where expired() or k = "a" facet k disjunctive`)
}

func TestExplainCounts(t *testing.T) {
	db := openItems(t)
	for text, want := range map[string]string{
		`explain get kind, count(*) from item group kind`:                       `{"plan":"rows: 3"}]`,
		`explain get kind, count(*) from item group kind count`:                 `{"plan":"count: 3"}]`,
		`explain get count(*) from item`:                                        `{"plan":"rows: 1"}]`,
		`explain get item where live facet kind, price, live disjunctive`:       `{"plan":"rows: 3"}]`,
		`explain get item where live count facet kind, price, live disjunctive`: `{"plan":"count: 3"}]`,
	} {
		got := db.must(text).json(t)
		require.Contains(t, got, `{"plan":"aggregate:`, text)
		require.True(t, strings.HasSuffix(got, want), "%s: %s", text, got)
	}
}
