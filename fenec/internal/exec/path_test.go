package exec_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rowsRead = regexp.MustCompile(`(\d+) rows? read`)

// read returns how many rows a get looks at.
func (db *testDB) read(text string, args ...any) int {
	db.t.Helper()
	plan := db.explain(text, args...)
	m := rowsRead.FindStringSubmatch(plan["filter"])
	require.NotNil(db.t, m, plan)
	n, err := strconv.Atoi(m[1])
	require.NoError(db.t, err)
	return n
}

// explain returns the lines of an explain by their first words.
func (db *testDB) explain(text string, args ...any) map[string]string {
	db.t.Helper()
	res := db.must("explain "+text, args...).res
	lines := map[string]string{}
	for i := range res.Len() {
		line, err := res.Value(i, 0)
		require.NoError(db.t, err)
		kind, rest, ok := strings.Cut(line.AsText(), ": ")
		require.True(db.t, ok, line)
		lines[kind] = rest
	}
	return lines
}

// TestRowsRead bounds the rows that statements look at in a collection of
// 20,000.
func TestRowsRead(t *testing.T) {
	const rows = 20_000
	db := openTest(t, `create collection c (u text @unique, kind text @hash, few text @hash, n int @sorted, dup int @sorted, plain int)`)
	for i := 0; i < rows; i += 1000 {
		var docs strings.Builder
		for j := i; j < i+1000; j++ {
			fmt.Fprintf(&docs, `{u: "u%d", kind: "k%d", few: "f%d", n: %d, dup: %d, plain: %d}`, j, j%200, j%2, j*7919%rows, j%4, j)
		}
		db.must("put c " + docs.String())
	}
	for _, c := range []struct {
		text string
		most int
	}{
		{`get c where id = 77`, 1},
		{`get c where id in [5, 6, 5, 99999]`, 2},
		{`get c where id > 19990`, 10},
		{`get c where id > 100 and id < 110 and kind ~ "k"`, 9},
		{`get c where id > 500 limit 10`, 10},
		{`get c order id desc limit 10`, 10},
		{`get c limit 10 offset 5`, 15},
		{`get c where u = "u7"`, 1},
		{`get c where u in ["u7", "u8", "none"]`, 2},
		{`get c where "u7" = u and plain = 7`, 1},
		{`get c where kind = "k7"`, 100},
		{`get c where kind = "k7" limit 5`, 5},
		{`get c where kind = "k7" order id desc limit 5`, 5},
		{`get c where kind = "k7" and id > 15000 limit 5`, 5},
		{`get c where kind in ["k7", "k8"] limit 5`, 5},
		{`get c where few = "f1" limit 5`, 5},
		{`get c where few = "f1" and kind = "k7"`, 100},
		{`get c where few = "f1" and kind = "k7" limit 5`, 100},
		{`get c where kind = "k7" and u = "u7"`, 1},
		{`get c where kind = "k7" or u = "u9" or id = 3`, 102},
		{`get c where (kind = "k7" or kind = "k8") and plain >= 0`, 200},
		{`get c where n >= 100 and n < 150`, 50},
		{`get c where n > 100 and n <= 150 and n != 120`, 50},
		{`get c where not (n < 0) and (n < 20 or n > 19980)`, 39},
		{`get c where id < 11 or id > 19990`, 20},
		{`get c where id < 11 or kind = "k7" or n >= 100 and n < 110`, 120},
		{`get c where id > 100 and id < 105 or kind = "k7" limit 3`, 3},
		{`get c where few = "f1" and kind = "k7" or u = "u8"`, 101},
		{`get c where few = "f1" and n < 10 or kind = "k7" and few = "f0"`, 110},
		{`get c where few = "f1" and kind = "k7" or n < 10 limit 10`, 110},
		{`get c where n < 0`, 0},
		{`get c where n > 10 and n < 5`, 0},
		{`get c where n = null`, 0},
		{`get c where n > $1`, 0},
		{`get c where kind is null`, 0},
		{`get c order n limit 10`, 10},
		{`get c order n desc limit 10`, 10},
		{`get c order n, id limit 10 offset 20`, 30},
		{`get c where n > 5000 order n limit 10`, 10},
		{`get c where n < 5000 order n desc limit 10`, 10},
		{`get c where n > 5000 or n = 5000 and id > 3 order n, id limit 10`, 10},
		{`get c where dup > 1 or dup = 1 and id > 10000 order dup, id limit 10`, 10},
		{`get c order dup limit 10`, 10},
		{`get c order dup desc limit 10`, 10},
		{`get c order dup, id desc limit 10`, 10},
		{`get c where few = "f1" order n limit 10`, 60},
		{`get c where kind = "k7" order n limit 10`, 100},
		{`get c where kind = "k7" order plain`, 100},
		{`get c count`, 0},
		// Where no index helps, every row once; where one seems to, not many more.
		{`get c where plain = 7`, rows},
		{`get c where few = "f1"`, rows},
		{`get c where few = "f1" and plain = 7 limit 1`, rows + rows/8},
		{`get c where plain = 7 order n limit 1`, rows + rows/8},
		{`get c order n limit 15000`, rows},
	} {
		require.LessOrEqual(t, db.read(c.text, nil), c.most, c.text)
	}
}

// TestRowsReadThroughPaths does the same for indexes on paths, texts with a
// collation, rows that expire and values that a get finds.
func TestRowsReadThroughPaths(t *testing.T) {
	const rows = 20_000
	db := openTest(t,
		`create collection c (j json, name text collate tr @sorted, seen timestamp @ttl(1h), n int @hash, u int @unique, plain int)`,
		`create index on c (j.kind) @hash`, `create index on c (j.pos.row) @sorted`, `create index on c (j.key) @unique`,
		`create collection o (ref int @hash, part int @hash)`)
	for i := 0; i < rows; i += 1000 {
		var docs, others strings.Builder
		for j := i; j < i+1000; j++ {
			// The first 500 rows are expired, of the rest each lives a second longer.
			fmt.Fprintf(&docs, `{j: {kind: "k%d", pos: {row: %d}, key: %d}, name: "şu %05d", seen: timestamp(%d), n: %d, u: %d, plain: %d}`,
				j%200, j*7919%rows, j, j*7919%rows, t0-3_600_000+(j-499)*1000, j%500, j, j)
			fmt.Fprintf(&others, `{ref: %d, part: %d}`, j, j%20)
		}
		db.must("put c " + docs.String())
		db.must("put o " + others.String())
	}
	require.Equal(t, `[{"count":19500}]`, db.must("get c count").json(t))
	for _, c := range []struct {
		text string
		most int
	}{
		{`get c where j.kind = "k7"`, 100},
		{`get c where j.kind = "k7" limit 5`, 8},
		{`get c where "k7" = j.kind and plain > 5`, 100},
		{`get c where j.kind in ["k7", "k8"] and n = 7`, 40},
		{`get c where j.key = 777`, 1},
		{`get c where j.key = 777.0 or j.key = 778 or id = 5`, 3},
		{`get c where j.pos.row >= 100 and j.pos.row < 150`, 50},
		{`get c where j.pos.row < 20 or j.pos.row > 19980`, 39},
		{`get c where j.pos.row is null`, 0},
		{`get c where j.kind is null`, 0},
		{`get c where j.pos.row > "a"`, 0},
		{`get c where j.pos.row < true`, 0},
		{`get c order j.pos.row limit 10`, 12},
		{`get c order j.pos.row desc limit 10`, 12},
		{`get c where j.pos.row > 5000 order j.pos.row limit 10`, 12},
		{`get c where j.pos.row = 7 and j.kind = "k3"`, 1},
		{`get c where name < "şu 00050"`, 50},
		{`get c where name >= "ş" and name < "şu 00010"`, 10},
		{`get c where name < "s"`, 0},
		{`get c where name = "şu 00050"`, 1},
		{`get c where name in ["şu 00050", "şu 00051", "none"]`, 2},
		{`get c order name limit 10`, 12},
		{`get c order name desc limit 10`, 12},
		{`get c order name collate tr limit 10`, 12},
		{`get c where expired()`, 500},
		{`get c where expired() and j.kind = "k7"`, 100},
		{`get c where expired() and n = 3`, 40},
		{`get c order seen limit 10`, 10},
		{`get c order seen desc limit 10`, 10},
		{`get c where seen > now() order seen limit 10`, 10},
		{`get c count`, 0},
		{`get c where n in (get ref from o where part = 7 and ref < 100)`, 200},
		{`get c where id in (get ref from o where part = 7)`, 1000},
		{`get c where u in (get ref from o where part < 2 and ref < 8000)`, 800},
		{`get c where u in (get ref from o where part < 2 and ref < 8000) and j.kind = "k20"`, 100},
		{`get c where u in (get ref from o where part < 2) and u = 20`, 1},
		{`get c where id in (get ref from o where part < 2)`, 2000},
		{`get c where id in (get ref from o) and id = 20`, 1},
		{`get c where u in (get ref from o where part = 7 and ref < 9000) or j.key = 3`, 451},
		{`get c where u in (get ref from o where part = 7 and ref < 9000) order u limit 5`, 30},
		{`get c where u in (get ref from o where ref < 0)`, 0},
		// Where no index helps, every row once.
		{`get c where u in (get ref from o)`, rows},
		{`get c order name collate und limit 10`, rows},
		{`get c where not expired()`, rows},
		{`get c where j.kind != "k7"`, rows},
	} {
		require.LessOrEqual(t, db.read(c.text), c.most, c.text)
	}
}

// TestLongLists looks for many values at once: what that costs follows the
// values while these are few, and the rows when they are not.
func TestLongLists(t *testing.T) {
	db := openTest(t, `create collection c (u int @unique, q int @hash, t text @hash)`)
	const rows = 30_000
	var docs strings.Builder
	for i := range rows {
		fmt.Fprintf(&docs, `{u: %d, q: %d, t: "t%d"}`, i, i/10, i)
	}
	db.must("put c " + docs.String())
	for _, n := range []int{100, 1000, 3000, 100_000} {
		var ints, texts strings.Builder
		for i := range n {
			fmt.Fprintf(&ints, "%d,", i*7%n)
			fmt.Fprintf(&texts, `"t%d",`, i*7%n)
		}
		for _, c := range []struct {
			field, list string
			found       int
		}{
			{"u", ints.String(), min(n, rows)}, {"id", ints.String(), min(n-1, rows)},
			{"q", ints.String(), min(10*n, rows)}, {"t", texts.String(), min(n, rows)},
		} {
			text := "get c where " + c.field + " in [" + c.list + "]"
			require.Equal(t, fmt.Sprintf(`[{"count":%d}]`, c.found), db.must(text+" count").json(t), c.field)
			read := rows
			if c.found <= rows/8 && (c.field == "id" || n <= rows/24) {
				read = c.found
			}
			require.LessOrEqual(t, db.read(text), read, "%s in %d values", c.field, n)
			require.LessOrEqual(t, db.read(text+" and u = 5"), 1, "%s in %d values", c.field, n)
		}
	}
}

// TestRowsReadThroughPlaces does the same for an index of points. It may lead to
// rows near those that are asked for.
func TestRowsReadThroughPlaces(t *testing.T) {
	const side = 120 // of a grid of points, a hundredth of a degree apart, across the antimeridian
	db := openTest(t, `create collection c (p geo @geo, n int @hash)`)
	for i := range side {
		var docs strings.Builder
		for j := range side {
			lon := 179.4 + float64(j)/100
			if lon > 180 {
				lon -= 360
			}
			fmt.Fprintf(&docs, `{p: [%.2f, %.2f], n: %d}`, lon, float64(i)/100, i*j%100)
		}
		db.must("put c " + docs.String() + "{}")
	}
	for _, c := range []struct {
		text         string
		found, extra int
	}{
		{`get c where distance(p, [179.5, 0.5]) < 500`, 1, 4},
		{`get c where distance(p, [179.5, 0.5]) <= 5000`, 69, 60},
		{`get c where 5000 >= distance([179.5, 0.5], p) and n = 5`, 0, 120},
		{`get c where distance(p, [180, 0.5]) < 2000`, 9, 12},
		{`get c where within(p, [179.5, 0.5, 179.5, 0.5])`, 1, 0},
		{`get c where within(p, [179.495, 0.495, 179.575, 0.575])`, 64, 40},
		{`get c where within(p, [179.955, 0.295, -179.955, 0.325])`, 27, 20},
		{`get c where distance(p, [0, 0]) < 1000`, 0, 0},
		{`get c where distance(p, [179.5, 0.5]) < -1`, 0, 0},
		{`get c where p is null`, side, 0},
		{`get c where distance(p, [179.5, 0.5]) < 500 or distance(p, [179.6, 0.5]) < 500`, 2, 8},
	} {
		require.Equal(t, c.found, db.must(c.text).res.Len(), c.text)
		require.LessOrEqual(t, db.read(c.text), c.found+c.extra, c.text)
	}
}
