package fenec_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// grove is a database of vectors that small graphs are searched for, whose ids
// are put, changed and deleted in blocks of their own.
type grove struct {
	*rand.Rand
	t       *testing.T
	db      *fenec.DB
	opts    fenec.Options
	recalls []float64
}

const groveIDs = 600

func newGrove(t *testing.T, seed uint64, def string) *grove {
	g := &grove{Rand: rand.New(rand.NewPCG(seed, 63)), t: t, opts: fenec.Options{Sync: fenec.SyncOff}}
	var err error
	g.db, err = fenec.Open(filepath.Join(t.TempDir(), "grove.fenec"), g.opts)
	require.NoError(t, err)
	g.do("create collection trees (v " + def + ", n int @hash, m int)")
	return g
}

func (g *grove) do(statement string, args ...any) {
	g.t.Helper()
	_, err := g.db.Query(ctx, statement, args...)
	require.NoError(g.t, err, statement)
}

// tree makes a document. There are few vectors, so that many are equal, some null
// and some zero.
func (g *grove) tree() map[string]any {
	d := map[string]any{"id": 1 + g.IntN(groveIDs), "n": g.IntN(10), "m": g.IntN(10)}
	switch g.IntN(12) {
	case 0:
	case 1:
		d["v"] = []float32{0, 0, 0}
	case 2:
		d["v"] = point(g.Rand, 3, true)
	default:
		d["v"] = point(g.Rand, 3, false)
	}
	return d
}

func (g *grove) change() {
	switch n := g.IntN(10); {
	case n < 6:
		var docs []any
		for range 1 + g.IntN(40) {
			docs = append(docs, g.tree())
		}
		g.do("put trees $1", docs)
	case n < 7:
		g.do("set trees {v: $1} where id = $2", point(g.Rand, 3, false), 1+g.IntN(groveIDs))
	case n < 8:
		g.do("set trees {v: null} where id = $1", 1+g.IntN(groveIDs))
	case n < 9:
		g.do("set trees {m: $1} where n = $2", g.IntN(10), g.IntN(10))
	default:
		g.do("del trees where id < $1 and n = $2", g.IntN(groveIDs), g.IntN(10))
	}
}

// compare searches a snapshot. Every row that is answered is as the snapshot has
// it, no page is short, and each row is found by its own vector.
func (g *grove) compare(q querier, metric string) {
	g.t.Helper()
	vectors := vectorsOf(g.t, q, "trees", "v")
	if len(vectors) == 0 {
		return
	}
	few := passing(g.t, q, "trees", "m < 5")
	for range 4 {
		v := point(g.Rand, 3, false)
		want := measure(metric, vectors, v)
		g.recalls = append(g.recalls, want.recall(g.t, hitsOf(g.t, q, "get id from trees near v $1 limit 10", v), metric == "l2", 10))
		if want = want.only(few); len(want) > 0 {
			got := hitsOf(g.t, q, "get id from trees near v $1 where m < 5 limit 8", v)
			g.recalls = append(g.recalls, want.recall(g.t, got, metric == "l2", 8))
		}
		want.require(g.t, hitsOf(g.t, q, "get id from trees near v $1 exact where m < 5", v), metric == "l2", 0, 10_000, "exact")
	}
}

// average is the recall of all searches so far.
func (g *grove) average() float64 {
	sum := 0.0
	for _, r := range g.recalls {
		sum += r
	}
	return sum / float64(len(g.recalls))
}

// Whatever is changed, folded and linked when, and reopened, searches answer what
// the rows are.
func TestGraphModel(t *testing.T) {
	for i, c := range []struct{ metric, def string }{
		{"cosine", "vector<3> @hnsw(m=6, ef_construction=40, ef_search=24)"},
		{"l2", "vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=24)"},
		{"dot", "vector<3, f16> @hnsw(dot, m=6, ef_construction=40, ef_search=24)"},
		{"l2", "vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=24, quant=int8)"},
		{"cosine", "vector<3> @hnsw(m=6, ef_construction=40, ef_search=24, quant=bit)"},
	} {
		t.Run(c.def, func(t *testing.T) {
			g := newGrove(t, uint64(i), c.def)
			for n := range 110 {
				g.change()
				switch g.IntN(12) {
				case 0, 1:
					require.NoError(t, g.db.Checkpoint(ctx))
				case 2:
					g.compare(g.db, c.metric)
				case 3:
					require.NoError(t, g.db.View(ctx, func(sn *fenec.Snapshot) error {
						for range 1 + g.IntN(8) {
							g.change()
							require.NoError(t, g.db.Checkpoint(ctx))
						}
						g.compare(sn, c.metric)
						return nil
					}))
				case 4:
					if n%2 == 0 {
						g.opts.NoCheckpoint = g.IntN(2) == 0
						g.db = reopened(t, g.db, g.opts)
					}
				case 5:
					if n%3 == 0 {
						g.do("compact")
					}
				}
			}
			g.compare(g.db, c.metric)
			g.opts.NoCheckpoint = false
			g.db = reopened(t, g.db, g.opts)
			require.NoError(t, g.db.Checkpoint(ctx))
			v := point(g.Rand, 3, false)
			require.Contains(t, untilLinked(t, g.db, "get id from trees near v $1 limit 3", v), "graph of")
			g.compare(g.db, c.metric)
			g.db = reopened(t, g.db, g.opts)
			require.Contains(t, planOf(t, g.db, "get id from trees near v $1 limit 3", v), "and 0 rows that changed")
			g.compare(g.db, c.metric)
			require.GreaterOrEqual(t, g.average(), 0.95)
			t.Logf("recall %.4f of %d searches", g.average(), len(g.recalls))
			require.NoError(t, g.db.Close())
			require.NoError(t, fenec.Check(g.db.Path()))
		})
	}
}

// Every change is found at once, whether it is in the front, pending or linked. What
// changes is far from all others, to which a search with few candidates may not find.
func TestGraphTakesEachChange(t *testing.T) {
	g := newGrove(t, 9, "vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=600)")
	var docs []any
	for id := range groveIDs {
		docs = append(docs, map[string]any{"id": id + 1, "v": point(g.Rand, 3, false)})
	}
	g.do("put trees $1", docs)
	nearest := func(q querier, v []float32) []hit { return hitsOf(t, q, "get id from trees near v $1 limit 2", v) }
	for n := range 40 {
		v := []float32{float32(100 + n), 0, 0}
		id := int64(1 + g.IntN(groveIDs))
		g.do("set trees {v: $1} where id = $2", v, id)
		require.Equal(t, hit{id, 0}, nearest(g.db, v)[0])
		require.NoError(t, g.db.View(ctx, func(sn *fenec.Snapshot) error {
			switch n % 4 {
			case 0:
				g.do("del trees where id = $1", id)
			case 1:
				g.do("set trees {v: null} where id = $1", id)
			case 2:
				g.do("set trees {v: [-1, 0, 0]} where id = $1", id)
			case 3:
				g.do("del trees where id = $1", id)
				g.do("put trees {id: $1, v: $2}", id, v)
			}
			for range 3 {
				require.Equal(t, hit{id, 0}, nearest(sn, v)[0])
				if n%4 != 3 {
					require.NotEqual(t, id, nearest(g.db, v)[0].id)
				}
				require.NoError(t, g.db.Checkpoint(ctx))
			}
			return nil
		}))
		require.Equal(t, n%4 == 3, nearest(g.db, v)[0].id == id)
		require.NoError(t, g.db.Checkpoint(ctx))
		require.Equal(t, n%4 == 3, nearest(g.db, v)[0].id == id)
		if n%10 == 9 {
			g.db = reopened(t, g.db, g.opts)
		}
		if n%4 == 3 {
			g.do("set trees {v: $1} where id = $2", point(g.Rand, 3, false), id)
		}
	}
	require.NoError(t, g.db.Close())
}

// Indexes and collections are dropped while their graphs are loaded, being linked
// and searched, and made again.
func TestGraphDropped(t *testing.T) {
	g := newGrove(t, 5, "vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=24)")
	fill := func(name string) {
		var docs []any
		for id := range groveIDs {
			docs = append(docs, map[string]any{"id": id + 1, "v": point(g.Rand, 3, false), "n": id % 10})
		}
		g.do("put "+name+" $1", docs)
		require.NoError(t, g.db.Checkpoint(ctx))
	}
	v := point(g.Rand, 3, false)
	for round := range 6 {
		fill("trees")
		untilLinked(t, g.db, "get id from trees near v $1 limit 3", v)
		before := vectorsOf(t, g.db, "trees", "v")
		require.NoError(t, g.db.View(ctx, func(sn *fenec.Snapshot) error {
			switch round % 3 {
			case 0:
				g.do("drop collection trees")
				g.do("create collection trees (v vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=24), n int, m int)")
			case 1:
				g.do("alter collection trees drop v")
				g.do("alter collection trees add v vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=24)")
			case 2:
				g.do("alter collection trees rename v to w")
				g.do("alter collection trees drop w")
				g.do("alter collection trees add v vector<3>")
				g.do("create index on trees (v) @hnsw(l2, m=6, ef_construction=40, ef_search=24)")
			}
			require.Empty(t, hitsOf(t, g.db, "get id from trees near v $1 limit 3", v))
			require.NoError(t, g.db.Checkpoint(ctx))
			g.do("put trees {id: 1, v: $1}", v)
			for range 3 {
				got := hitsOf(t, sn, "get id from trees near v $1 limit 10", v)
				require.GreaterOrEqual(t, measure("l2", before, v).recall(t, got, true, 10), 0.7)
				require.Equal(t, []hit{{1, 0}}, hitsOf(t, g.db, "get id from trees near v $1 limit 3", v))
				require.NoError(t, g.db.Checkpoint(ctx))
			}
			return nil
		}))
		require.Equal(t, []hit{{1, 0}}, hitsOf(t, g.db, "get id from trees near v $1 limit 3", v))
		require.NoError(t, g.db.Checkpoint(ctx))
		if round%2 == 1 {
			g.db = reopened(t, g.db, g.opts)
		}
	}
	st, err := g.db.Stats()
	require.NoError(t, err)
	require.Less(t, st.MemoryBytes, int64(1<<20), "graphs that are dropped are let go")
	require.NoError(t, g.db.Close())
	require.NoError(t, fenec.Check(g.db.Path()))
}

// A database that is closed while its graph is linked, or has pending changes that
// nothing has linked, goes on where it was.
func TestGraphUnfinished(t *testing.T) {
	sequential(t)
	g := newGrove(t, 6, "vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=40)")
	vectors, recall := map[int64][]float32{}, 0.0
	for round := range 6 {
		var docs []any
		for range 900 {
			id := int64(1 + g.IntN(2000))
			vectors[id] = point(g.Rand, 3, false)
			docs = append(docs, map[string]any{"id": id, "v": vectors[id]})
		}
		g.do("put trees $1", docs)
		if round%2 == 0 {
			require.NoError(t, g.db.Checkpoint(ctx))
		}
		if round%3 == 0 { // the linker begins
			require.Len(t, hitsOf(t, g.db, "get id from trees near v $1 limit 3", point(g.Rand, 3, false)), 3)
		}
		g.opts.NoCheckpoint = round%4 < 2
		g.db = reopened(t, g.db, g.opts)
		for range 10 {
			v := point(g.Rand, 3, false)
			recall += measure("l2", vectors, v).recall(t, hitsOf(t, g.db, "get id from trees near v $1 limit 10", v), true, 10)
		}
	}
	require.GreaterOrEqual(t, recall, 0.95*60)
	require.NoError(t, g.db.Checkpoint(ctx))
	require.Contains(t, untilLinked(t, g.db, "get id from trees near v $1 limit 3", []float32{0, 0, 1}), fmt.Sprintf("graph of %d vectors", len(vectors)))
	require.NoError(t, g.db.Close())
}

// A row that is damaged keeps the graph from taking up what changed, which Stats
// tells while the database is open, and Check when it is not.
func TestGraphLinkFailure(t *testing.T) {
	g := newGrove(t, 8, "vector<3> @hnsw(l2, m=2, ef_construction=8, ef_search=1)")
	marked := []float32{0.12345, 6.789, -0.98765}
	var docs []any
	for id := range groveIDs {
		docs = append(docs, map[string]any{"id": id + 1, "v": point(g.Rand, 3, false)})
	}
	g.do("put trees $1", append(docs, map[string]any{"id": groveIDs + 1, "v": marked}))
	require.NoError(t, g.db.Close())
	require.NoError(t, fenec.Check(g.db.Path()))

	file, err := os.ReadFile(g.db.Path())
	require.NoError(t, err)
	var bits []byte
	for _, x := range marked {
		bits = binary.LittleEndian.AppendUint32(bits, math.Float32bits(x))
	}
	require.Contains(t, string(file), string(bits))
	require.NoError(t, os.WriteFile(g.db.Path(), bytes.ReplaceAll(file, bits, make([]byte, len(bits))), 0o600))
	require.ErrorIs(t, fenec.Check(g.db.Path()), fenec.ErrCorrupt)

	g.db, err = fenec.Open(g.db.Path(), g.opts)
	require.NoError(t, err)
	_, err = g.db.Query(ctx, "get trees near v $1 limit 1", marked) // loads the graph, and meets the row itself
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	failure := func() error {
		st, err := g.db.Stats()
		require.NoError(t, err)
		return st.LinkFailure
	}
	require.Eventually(t, func() bool { return failure() != nil }, time.Minute, time.Millisecond)
	require.ErrorIs(t, failure(), fenec.ErrCorrupt)
	require.ErrorContains(t, failure(), `link vectors of "v" in collection "trees": id 601`)
	require.NoError(t, g.db.Close())
}

// An image of a database has its graphs as they are.
func TestGraphImage(t *testing.T) {
	g := newGrove(t, 7, "vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=24)")
	for range 100 {
		g.change()
	}
	require.NoError(t, g.db.Checkpoint(ctx))
	untilLinked(t, g.db, "get id from trees near v $1 limit 3", []float32{0, 0, 1})
	require.NoError(t, g.db.Checkpoint(ctx))
	g.change()
	m, err := g.db.OpenImage(ctx)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "copy.fenec")
	require.NoError(t, fenec.Install(path, m))
	require.NoError(t, m.Close())
	require.NoError(t, fenec.Check(path))
	db, err := fenec.Open(path, g.opts)
	require.NoError(t, err)
	vectors := vectorsOf(t, g.db, "trees", "v")
	for range 20 {
		v := point(g.Rand, 3, false)
		measure("l2", vectors, v).recall(t, hitsOf(t, db, "get id from trees near v $1 limit 10", v), true, 10)
	}
	require.NoError(t, db.Close())
	require.NoError(t, g.db.Close())
}
