package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// waitLinked loads the graphs and waits until they have all vectors of the base.
func waitLinked(t *testing.T, db *fenec.DB) {
	t.Helper()
	require.NoError(t, db.Warm(ctx))
	require.Eventually(t, func() bool {
		st, err := db.Stats()
		return err == nil && st.UnlinkedVectors == 0
	}, time.Minute, time.Millisecond)
}

// Small collections are answered exactly also where vectors are nearer to each other
// than kernels, or halves at another length, can tell.
func TestNearExactlyAlike(t *testing.T) {
	const dim, rows = 24, 500
	r := rand.New(rand.NewPCG(9, 7))
	base := make([]float32, dim)
	for i := range base {
		base[i] = float32(r.NormFloat64())
	}
	alike := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = base[i] + float32(r.NormFloat64()*1e-2)
		}
		return v
	}
	cancelling := func(sign float32) []float32 {
		v := alike()
		v[0] = float32(r.NormFloat64() * 6e4)
		v[9] = sign * v[0]
		v[0], v[9] = max(-6e4, min(v[0], 6e4)), max(-6e4, min(v[9], 6e4))
		return v
	}
	for _, typ := range []string{"", ", f16"} {
		for _, m := range lotMetrics {
			db := memory(t, fmt.Sprintf("create collection c (n int @hash, a vector<%d%s> @hnsw(%s, m=4, ef_construction=8), b vector<%d%s> @hnsw(%s, m=4, ef_construction=8))", dim, typ, m, dim, typ, m))
			var docs []any
			for i := range rows {
				docs = append(docs, map[string]any{"n": i % 4, "a": alike(), "b": cancelling(1)})
			}
			query(t, db, "put c $1", docs)
			require.NoError(t, db.Checkpoint(ctx))
			waitLinked(t, db)
			for range 5 {
				for field, q := range map[string][]float32{"a": alike(), "b": cancelling(-1)} {
					for _, where := range []string{"", " where n = 2"} {
						want := hitsOf(t, db, "get id from c near "+field+" $1 exact"+where+" limit 5", q)
						require.Equal(t, want, hitsOf(t, db, "get id from c near "+field+" $1"+where+" limit 5", q), "%s%s %s%s", m, typ, field, where)
					}
				}
			}
		}
	}
}

// What a score cannot hold is the greatest score, by an index or without.
func TestSparseOverflow(t *testing.T) {
	db := memory(t, "create collection a (s sparse<9> @inverted)", "create collection b (s sparse<9>)")
	var want []hit
	for _, from := range []string{"a near s $1", "a near s $1 exact", "b near s $1"} {
		if len(want) == 0 {
			for _, c := range []string{"a", "b"} {
				query(t, db, "put "+c+` [{s: "{1:3.4028235e38}/9"}, {s: "{1:3e38,2:3e38}/9"}, {s: "{1:-3e38,2:-3e38}/9"}]`)
			}
			want = hitsOf(t, db, "get id from a near s $1", "{1:1,2:1}/9")
			require.Len(t, want, 3)
			require.Equal(t, want[0].score, want[1].score)
		}
		require.Equal(t, want, hitsOf(t, db, "get id from "+from, "{1:1,2:1}/9"), from)
	}
}

// Points that score the same are ranked by their ids, also about the edge of a circle
// that the index is asked for.
func TestNearPointTies(t *testing.T) {
	db := memory(t, "create collection a (p geo @geo)", "create collection b (p geo)")
	const metres, radius = 500 * 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3, 6372797.560856
	var docs []any
	for i := range 201 {
		d := metres + 0.01*float64(100-i)
		docs = append(docs, map[string]any{"p": []float64{10, d/radius*180/3.141592653589793 - 60}})
	}
	query(t, db, "put a $1", docs)
	query(t, db, "put b $1", docs)
	for offset := range 201 {
		text := fmt.Sprintf(" near p [10, -60] limit 1 offset %d", offset)
		require.Equal(t, hitsOf(t, db, "get b"+text), hitsOf(t, db, "get a"+text), text)
	}
}

// A row that a graph names and that is not there is damage, whether the graph is
// walked, measured or filtered.
func TestNearMissingRow(t *testing.T) {
	db := memory(t, "create collection c (n int, v vector<2> @hnsw(cosine, m=4, ef_construction=20, ef_search=10))")
	put := func(rows int) {
		var docs []any
		for i := range rows {
			docs = append(docs, map[string]any{"n": i % 3, "v": []float32{1, float32(i%90) / 10}})
		}
		query(t, db, "put c $1", docs)
		require.NoError(t, db.Checkpoint(ctx))
		waitLinked(t, db)
	}
	for _, rows := range []int{70, 2000} {
		put(rows)
		require.NoError(t, db.Plant(ctx, "c", "v", uint64(1e6+rows), []float32{-3, -3}))
		for _, where := range []string{"", " where n < 3"} {
			_, err := db.Query(ctx, "get id from c near v [-1, -1]"+where+" limit 3")
			require.ErrorIs(t, err, fenec.ErrCorrupt, "%d rows%s", rows, where)
		}
	}
}
