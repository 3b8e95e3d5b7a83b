package exec_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

func TestSketches(t *testing.T) {
	db := openSales(t)
	for text, want := range map[string]string{
		`get approx_count_distinct(cust) from sale`:                                                         `[[2]]`,
		`get approx_count_distinct(cust), hll_accumulate(cust) from sale where id = 99`:                     `[[0,null]]`,
		`get hll_accumulate(cust) from sale where cust is null`:                                             `[[null]]`,
		`get hll_estimate(hll_accumulate(cust)) as n from sale`:                                             `[[2]]`,
		`get cust, approx_count_distinct(amt), approx_count_distinct(m.ch) as c from sale group cust`:       `[[null,1,0],["ann",2,1],["bob",1,2]]`,
		`get cust, hll_estimate(hll_accumulate(id)) as n, count(*) from sale group cust order n desc, cust`: `[["ann",2,2],["bob",2,2],[null,1,1]]`,
	} {
		require.Equal(t, want, db.must(text).rows(t), text)
	}
}

func TestCombine(t *testing.T) {
	db := openTest(t, `create collection t (n int)`, `create collection s (part int, h bytes)`)
	docs := make([]any, 3000)
	for i := range docs {
		docs[i] = map[string]any{"n": i % 2000}
	}
	db.must(`put t $1`, docs)
	for part, where := range []string{`id <= 5`, `id > 5 and id < 1500`, `id >= 1500`} {
		v, err := db.must(`get hll_accumulate(n) from t where `+where).res.Value(0, 0)
		require.NoError(t, err)
		db.must(`put s {part: $1, h: $2}`, part, v.AsBytes())
	}
	db.must(`put s {part: 3}`)
	whole := db.must(`get hll_estimate(hll_accumulate(n)) as n, hll_accumulate(n) as h from t`).rows(t)
	require.Equal(t, whole, db.must(`get hll_estimate(hll_combine(h)) as n, hll_combine(h) as h from s`).rows(t))
	require.Equal(t, `[[0,5],[3,null]]`,
		db.must(`get part, hll_estimate(hll_combine(h)) as n from s where part in [0, 3] group part`).rows(t))
	db.must(`put s {h: "none"}`)
	db.fails(fault.Type, `get hll_combine(h) from s`)
	db.fails(fault.Type, `get hll_combine(upper("x")) as c from s`)
}

// TestSketchMemory makes sketches of 16 KB, about 4096 of which a run may hold.
func TestSketchMemory(t *testing.T) {
	db := openTest(t, `create collection t (h bytes)`)
	full := append([]byte{1, 14}, bytes.Repeat([]byte{1}, 16384)...)
	var docs []any
	for range 70 {
		docs = append(docs, map[string]any{"h": full})
	}
	db.must(`put t $1`, docs)
	text := func(aggregates int) string {
		out := `get id, count(*)`
		for i := range aggregates {
			out += fmt.Sprintf(`, hll_estimate(hll_combine(coalesce(h, %d))) as h%d`, i, i)
		}
		return out + ` from t group id`
	}
	require.Equal(t, 70, db.must(text(50)).res.Len())
	err := db.fails(fault.Query, text(60))
	require.ErrorContains(t, err, "64 MB")
}
