package graphs_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// agrees requires of a reader at a snapshot what searches build on: rows that
// neither fronts nor pending changes name are in the graph with the vector that
// the reader sees, or not at all if it sees none.
func agrees(t testing.TB, d *db, r *table.Reader, rows map[uint64][]float32, ids int) {
	t.Helper()
	g := d.graph(t)
	pending, err := r.PendingAfter(d.index(), g.Linked())
	require.NoError(t, err)
	changed, err := r.Fresh(d.index())
	require.NoError(t, err)
	for _, p := range pending {
		changed = append(changed, p.ID)
	}
	for id := uint64(1); id <= uint64(ids); id++ {
		if slices.Contains(changed, id) {
			continue
		}
		require.Equal(t, rows[id] != nil, g.Contains(id), "id %d, of %d changed", id, len(changed))
		if v := rows[id]; v != nil {
			require.Equal(t, id, nearest(t, g, v))
		}
	}
}

// Whatever is written, folded, linked, held open and reopened when, what a graph
// lacks is named.
func TestModel(t *testing.T) {
	const ids = 60
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 71))
		d := open(t, filepath.Join(t.TempDir(), "db"), store.Options{NoCheckpoint: seed%2 == 0})
		rows := map[uint64][]float32{}
		type held struct {
			sn   *store.Snapshot
			rows map[uint64][]float32
		}
		var views []held
		look := func(h held) {
			v := h.sn.View()
			defer v.Release()
			agrees(t, d, table.NewReader(v, d.c()), h.rows, ids)
		}
		letGo := func() {
			for _, h := range views {
				look(h)
				h.sn.Close()
			}
			views = nil
		}
		for range 150 {
			switch n := r.IntN(20); {
			case n < 9:
				now := map[uint64][]float32{}
				for range 1 + r.IntN(5) {
					id := 1 + r.Uint64N(ids)
					if now[id] = random(r); r.IntN(5) == 0 {
						now[id] = nil
					}
				}
				d.put(t, now)
				for id, v := range now {
					rows[id] = v
				}
			case n < 11:
				for id := range rows {
					d.delete(t, id)
					delete(rows, id)
					break
				}
			case n < 14:
				require.NoError(t, d.Checkpoint(ctx))
			case n < 15:
				require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
			case n < 16 && len(views) < 3:
				sn, err := d.Snapshot()
				require.NoError(t, err)
				h := held{sn, map[uint64][]float32{}}
				for id, v := range rows {
					h.rows[id] = v
				}
				views = append(views, h)
			case n < 17:
				letGo()
			case n < 18:
				letGo()
				d = d.reopened(t)
			case len(views) > 0:
				look(views[r.IntN(len(views))])
			default:
				d.view(t, func(x *table.Reader) { agrees(t, d, x, rows, ids) })
			}
		}
		letGo()
		require.NoError(t, d.Checkpoint(ctx))
		require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
		d.view(t, func(x *table.Reader) {
			agrees(t, d, x, rows, ids)
			pending, err := x.PendingAfter(d.index(), d.graph(t).Linked())
			require.NoError(t, err)
			require.Empty(t, pending)
		})
		d.close(t)
	}
}

// A graph that is stored is the same one after it is loaded, and has nothing to
// store until something changes.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 72))
	d := newDB(t)
	rows := some(r, 1, 300)
	d.put(t, rows)
	require.False(t, d.set.Waits())
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	require.True(t, d.set.Waits())
	linked := d.graph(t).Linked()
	require.Equal(t, d.Seq(), linked.Seq)
	require.Equal(t, 300, d.graph(t).Len())
	require.NoError(t, d.Checkpoint(ctx))
	require.False(t, d.set.Waits())
	require.Positive(t, d.set.Bytes())

	d = d.reopened(t)
	require.Zero(t, d.set.Bytes())
	g := d.graph(t)
	require.Equal(t, linked, g.Linked())
	require.Equal(t, 300, g.Len())
	require.Zero(t, g.Dirty())
	require.False(t, d.set.Waits())
	for id, v := range rows {
		require.Equal(t, id, nearest(t, g, v))
	}
	d.close(t)
}

// Folds of what is no graph's leave a loaded graph with nothing to store.
func TestFoldOfOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 72))
	d := newDB(t)
	d.put(t, some(r, 1, 50))
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d = d.reopened(t)
	d.graph(t)
	for range 3 {
		d.put(t, map[uint64][]float32{99: nil})
		require.NoError(t, d.Checkpoint(ctx))
		require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
		require.False(t, d.set.Waits())
		tx, err := d.Base()
		require.NoError(t, err)
		changes, err := d.set.Fold(tx, 0)
		tx.Release()
		require.NoError(t, err)
		require.Empty(t, changes)
	}
	d.close(t)
}

// Linked moves with what is linked, in the base with folds alone, and a fold takes
// out what the one before has stored as linked.
func TestPending(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 72))
	d := newDB(t)
	inBase := func() (linked table.Pending, pending int64) {
		tx, err := d.Base()
		require.NoError(t, err)
		defer tx.Release()
		linked, err = table.LinkedIn(tx, d.index().Space)
		require.NoError(t, err)
		pending, err = tx.Count(d.index().Space, nil, nil)
		require.NoError(t, err)
		return linked, pending
	}
	d.put(t, some(r, 1, 10))
	linked, pending := inBase()
	require.Zero(t, linked)
	require.Zero(t, pending)

	require.NoError(t, d.Checkpoint(ctx))
	first := d.Seq()
	linked, pending = inBase()
	require.Zero(t, linked)
	require.EqualValues(t, 10, pending)

	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	require.Equal(t, first, d.graph(t).Linked().Seq)
	linked, _ = inBase()
	require.Zero(t, linked, "it is stored by a fold")

	d.put(t, some(r, 5, 10))
	require.NoError(t, d.Checkpoint(ctx))
	linked, pending = inBase()
	require.Equal(t, first, linked.Seq)
	require.EqualValues(t, 20, pending, "what is linked is taken out by the next fold")

	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d.put(t, map[uint64][]float32{100: random(r)})
	require.NoError(t, d.Checkpoint(ctx))
	linked, pending = inBase()
	require.Equal(t, d.Seq()-1, linked.Seq)
	require.EqualValues(t, 11, pending)
	for id := range uint64(14) {
		require.True(t, d.graph(t).Contains(id+1))
	}
	d.close(t)
}

// Closing ends the linking; what it has not taken up is pending when the database
// is opened again.
func TestCloseWhileLinking(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 72))
	d := newDB(t)
	rows := some(r, 1, 6000)
	d.put(t, rows)
	require.NoError(t, d.Checkpoint(ctx))
	g := d.graph(t)
	ended := make(chan error, 1)
	go func() { ended <- d.set.Link(ctx, d.c(), d.index()) }()
	for g.Len() < 100 {
		if _, _, err := g.Search(ctx, hnsw.Query{Vector: make([]float32, dim), K: 1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	d = d.reopened(t)
	if err := <-ended; err != nil {
		require.True(t, errors.Is(err, context.Canceled) || errors.Is(err, store.ErrClosed), "%v", err)
	}
	d.view(t, func(x *table.Reader) { agrees(t, d, x, rows, 200) })
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	require.Equal(t, 6000, d.graph(t).Len())
	for id := range rows {
		require.True(t, d.graph(t).Contains(id))
	}
	d.close(t)
}

// After Close no graph is loaded any more, but folds go on.
func TestClosed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 72))
	d := newDB(t)
	d.put(t, some(r, 1, 20))
	require.NoError(t, d.Checkpoint(ctx))
	d.set.Close()
	d.set.Close()
	_, err := d.set.Graph(ctx, d.c(), d.index())
	require.ErrorIs(t, err, store.ErrClosed)
	require.ErrorIs(t, d.set.Link(ctx, d.c(), d.index()), store.ErrClosed)
	d.put(t, some(r, 10, 20))
	require.NoError(t, d.Checkpoint(ctx))
	d.close(t)
}

// The graph of an index that is dropped is let go, and nothing of it is stored
// any more.
func TestDropped(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 72))
	d := newDB(t)
	for range 3 {
		d.put(t, some(r, 1, 200))
		require.NoError(t, d.Checkpoint(ctx))
		require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
		x := d.index()
		d.drop(t, "c")
		require.Zero(t, d.set.Bytes())
		require.False(t, d.set.Waits())
		d.create(t, "create collection c (v vector<3> @hnsw(l2, m=4, ef_construction=20), n int)")
		require.NoError(t, d.Checkpoint(ctx))
		tx, err := d.Base()
		require.NoError(t, err)
		for _, space := range x.Spaces() {
			n, err := tx.Count(space, nil, nil)
			require.NoError(t, err)
			require.Zero(t, n)
		}
		tx.Release()
		require.Zero(t, d.graph(t).Len())
	}
	d.close(t)
}

// What a fold that failed had of the graph is not in the file: the next open
// has the graph of before, and what it lacks is pending.
func TestFailedFold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 72))
	path := filepath.Join(t.TempDir(), "db")
	d := open(t, path, store.Options{NoCheckpoint: true})
	rows := some(r, 1, 100)
	d.put(t, rows)
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	more := some(r, 50, 100)
	d.put(t, more)
	for id, v := range more {
		rows[id] = v
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	log, err := os.ReadFile(store.LogPath(path))
	require.NoError(t, err)
	require.NoError(t, d.Checkpoint(ctx))
	d.close(t)

	// As if the process had ended before the fold was in the file.
	require.NoError(t, os.WriteFile(path, before, 0o600))
	require.NoError(t, os.WriteFile(store.LogPath(path), log, 0o600))
	d = open(t, path, store.Options{})
	d.view(t, func(x *table.Reader) { agrees(t, d, x, rows, 150) })
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d.view(t, func(x *table.Reader) { agrees(t, d, x, rows, 150) })
	require.Equal(t, 149, d.graph(t).Len())
	d.close(t)
}
