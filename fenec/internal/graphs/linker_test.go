package graphs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// until waits until ok, a minute at most.
func until(t testing.TB, ok func() bool) {
	t.Helper()
	for begun := time.Now(); !ok(); runtime.Gosched() {
		require.Less(t, time.Since(begun), time.Minute)
	}
}

// storedLinked returns the last change that the graph in the base has taken up.
func storedLinked(t testing.TB, d *db) table.Pending {
	t.Helper()
	tx, err := d.Base()
	require.NoError(t, err)
	defer tx.Release()
	linked, err := table.LinkedIn(tx, d.index().Space)
	require.NoError(t, err)
	return linked
}

// Once a graph is loaded, what is pending is linked, and stored though nobody writes.
func TestLinkedAndStoredWhenQuiet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 74))
	d := newDB(t)
	rows := some(r, 1, 1500)
	d.put(t, rows)
	d = d.reopened(t)
	require.Zero(t, storedLinked(t, d))
	d.close(t)

	d = open(t, d.path, store.Options{IdleCheckpoint: time.Millisecond})
	require.Zero(t, d.set.Bytes(), "few pending changes load no graph")
	last := d.Seq()
	g := d.graph(t)
	until(t, func() bool { return storedLinked(t, d).Seq == last })
	require.Equal(t, last, g.Linked().Seq)
	require.Equal(t, last, d.Seq())
	require.NoError(t, d.set.Failure())

	// As if the process ended here.
	copied := filepath.Join(t.TempDir(), "copy")
	copyFile(t, d.path, copied)
	d.close(t)
	d = open(t, copied, store.Options{})
	require.Equal(t, 1500, d.graph(t).Len())
	d.view(t, func(x *table.Reader) {
		n, err := x.Unlinked(d.index(), d.graph(t).Linked())
		require.NoError(t, err)
		require.Zero(t, n)
		agrees(t, d, x, rows, 50)
	})
	d.close(t)
}

// A process that ends while vectors are linked loses none of them: those that the
// last fold had not stored are pending.
func TestEndedWhileLinking(t *testing.T) {
	const ids = 2000
	r := rand.New(rand.NewPCG(2, 74))
	d := newDB(t)
	rows := some(r, 1, ids)
	d.put(t, rows)
	require.NoError(t, d.Checkpoint(ctx))
	g := d.graph(t)
	dir, between := t.TempDir(), 0
	var moments []string
	for least := 0; least < ids; least += ids / 5 {
		until(t, func() bool { return g.Len() >= least })
		giveBack := graphs.TakeTurns() // nothing is linked meanwhile
		require.NoError(t, d.Checkpoint(ctx))
		moments = append(moments, filepath.Join(dir, fmt.Sprint(least)))
		copyFile(t, d.path, moments[len(moments)-1])
		if n := g.Len(); n > 0 && n < ids {
			between++
		}
		giveBack()
	}
	require.Positive(t, between, "graphs of which a part is stored")
	d.close(t)
	for _, path := range moments {
		d := open(t, path, store.Options{})
		d.graph(t)
		d.view(t, func(x *table.Reader) { agrees(t, d, x, rows, 30) })
		require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
		require.Equal(t, ids, d.graph(t).Len())
		for id := range rows {
			require.True(t, d.graph(t).Contains(id))
		}
		d.close(t)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o600))
}

// Linking ends soon when the set is closed, though it has no turn.
func TestCloseWithoutATurn(t *testing.T) {
	giveBack := graphs.TakeTurns()
	defer giveBack()
	d := newDB(t)
	d.put(t, some(rand.New(rand.NewPCG(3, 74)), 1, 100))
	require.NoError(t, d.Checkpoint(ctx))
	g := d.graph(t)
	require.Zero(t, g.Len())
	_, _, err := g.Search(ctx, hnsw.Query{Vector: make([]float32, dim), K: 1}, nil)
	require.NoError(t, err, "searches wait for no turn")
	d.close(t)
}

// What changes are stored as linked loads no graph, however many they are.
func TestManyLinkedLoadNoGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 74))
	d := newDB(t)
	d.put(t, some(r, 1, 10_500))
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d = d.reopened(t)
	d.create(t, "create collection other (n int)")
	require.NoError(t, d.Checkpoint(ctx))
	d.set.Close()
	require.Zero(t, d.set.Bytes())
	d.close(t)
}

// A search that had to measure many rows has them folded and linked, though the
// fronts are not full and nobody pauses.
func TestManyFreshAreFolded(t *testing.T) {
	d := newDB(t)
	d.put(t, some(rand.New(rand.NewPCG(5, 74)), 1, 5000))
	g := d.graph(t)
	g.Missed(4096)
	require.Zero(t, d.Stats().FoldedSeq)
	g.Missed(4097)
	until(t, func() bool { return g.Linked().Seq == d.Seq() })
	require.Equal(t, 5000, g.Len())
	d.close(t)
}
