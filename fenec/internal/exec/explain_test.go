package exec_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var elapsed = regexp.MustCompile(` in [0-9.]+(ns|µs|ms|s)`)

// TestExplainSteps is for what is done beside the filter and the order.
func TestExplainSteps(t *testing.T) {
	db := openTest(t,
		`create collection item (body json, name text collate tr @sorted, at timestamp @ttl(1h), loc geo @geo, n int)`,
		`create index on item (body.type) @hash`, `create index on item (body.pos.row) @sorted`,
		`create collection note (item int @hash, text text, part int @unique)`,
		`create collection part (k int @hash)`,
		`put item [{body: {type: "a", pos: {row: 1}}, name: "çam", loc: [29, 41], n: 1},
			{body: {type: "b", pos: {row: 2}}, name: "can", at: 0, n: 2}, {body: {type: "a", pos: {row: 3}}, n: 3}]`,
		`put note [{item: 1, part: 1}, {item: 1, part: 2}, {item: 2, part: 3}]`,
		`put part [{k: 1}, {k: 2}]`,
	)
	byID := "order: by id, as they are read"
	for text, want := range map[string][]string{
		`get item where body.type = "a"`: {
			`filter: index body.type @hash, 2 ids; 2 rows read, 2 kept`, byID, `rows: 2`},
		`get item order body.pos.row limit 2`: {
			`filter: walk of index body.pos.row @sorted; 3 rows read, 2 kept`, `order: body.pos.row, as index body.pos.row holds it`, `rows: 2`},
		`get item where name > "c" order name collate und desc`: {
			`filter: index name @sorted, 2 ids; 2 rows read, 1 kept`, `order: name collate und desc, sorted, 1 row held`, `rows: 1`},
		`get item where expired()`: {
			`filter: index at @ttl, 1 id; 1 row read, 1 kept`, byID, `rows: 1`},
		`get item where distance(loc, [29, 41]) < 5`: {
			`filter: index loc @geo (16 ranges), 1 id; 1 row read, 1 kept`, byID, `rows: 1`},
		`get item where n in (get item from note where part in (get k from part))`: {
			`subquery: k from part: scan of all rows; 2 rows read, 2 kept`,
			`subquery: item from note: index part @unique (2 ranges), 2 ids; 2 rows read, 2 kept`,
			`filter: scan of all rows; 3 rows read, 1 kept`, byID, `rows: 1`},
		`get item lookup note on item lookup part on k = part`: {
			`filter: scan of all rows; 3 rows read, 2 kept`, byID,
			`lookup: note: index item @hash, 2 ids; 2 rows read, 2 kept`,
			`lookup: part: index k @hash, 2 ids; 2 rows read, 2 kept`, `rows: 2`},
		`get item count lookup note on item where part = 2 required`: {
			`filter: scan of all rows; 3 rows read, 1 kept`,
			`required: note: index part @unique, 1 id; 2 runs, 2 rows read, 1 kept`, `count: 1`},
		`get n, count(*) from item group n`: {
			`filter: scan of all rows; 3 rows read, 2 kept`, `aggregate: 2 groups of 2 rows`, `rows: 2`},
		`get item limit 1 facet n`: {
			`filter: scan of all rows; 1 row read, 1 kept`, byID,
			`aggregate: facets: scan of all rows; 3 rows read, 2 kept`, `rows: 1`},
		`get item where n < 0 lookup note on item`: {
			`filter: scan of all rows; 3 rows read, 0 kept`, byID, `lookup: note: not needed`, `rows: 0`},
	} {
		res := db.must("explain " + text).res
		var got []string
		for i := range res.Len() {
			v, err := res.Value(i, 0)
			require.NoError(t, err)
			got = append(got, elapsed.ReplaceAllString(v.AsText(), ""))
		}
		require.Equal(t, want, got, text)
	}
}
