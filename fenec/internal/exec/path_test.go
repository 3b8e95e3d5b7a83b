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
	plan, err := db.must("explain "+text, args...).res.Value(0, 0)
	require.NoError(db.t, err)
	m := rowsRead.FindStringSubmatch(plan.AsText())
	require.NotNil(db.t, m, plan)
	n, err := strconv.Atoi(m[1])
	require.NoError(db.t, err)
	return n
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
