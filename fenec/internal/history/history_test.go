package history_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

const muchBytes = 64 << 20

// The history is what a list would be, whatever becomes of the store.
func TestModel(t *testing.T) {
	rounds := 80
	if os.Getenv("FENEC_LONG") != "" {
		rounds = 1000
	}
	for _, entries := range []uint64{0, 1, 7, 1000, 20_000, 1 << 40} {
		w := newWorld(t, entries+1, history.Limits{Entries: entries, Bytes: muchBytes})
		for range rounds {
			switch w.r.IntN(12) {
			case 0:
				w.reopen(false)
			case 1:
				w.crash()
			case 2, 3:
				require.NoError(t, w.s.Checkpoint(ctx))
			case 4:
				w.write(w.randomOps(3000))
			case 5:
				require.NoError(t, w.s.Compact(ctx))
			default:
				w.write(w.randomOps(20))
			}
			w.check()
		}
	}
}

// A crash while nothing is folded jumps past the reserved numbers, and cursors
// before the gap, in it and after it go on.
func TestGap(t *testing.T) {
	w := newWorld(t, 1, history.Limits{Entries: 100, Bytes: muchBytes})
	w.write(w.randomOps(5))
	before := w.s.Seq()
	for range 5 {
		w.crash()
		opened := w.s.Seq()
		require.Greater(t, opened, before+1000)
		w.check()
		w.h.Opened(opened)
		for range 2 {
			require.True(t, w.h.Sure(before-1))
			require.True(t, w.h.Sure(before))
			require.False(t, w.h.Sure(before+1), "a write that may have been lost")
			require.False(t, w.h.Sure(opened-1))
			require.True(t, w.h.Sure(opened))
			w.write(w.randomOps(5))
			require.True(t, w.h.Sure(opened+1))
		}
		w.write(w.randomOps(5))
		w.compare(before, w.s.Seq())
		w.compare(before+500, w.s.Seq())
		before = w.s.Seq()
		require.NoError(t, w.s.Checkpoint(ctx))
		w.check()
	}
	require.Zero(t, w.h.Horizon())
}

// More gaps than a head lists push out what lies before them.
func TestManyGaps(t *testing.T) {
	h := history.New(history.Limits{Entries: 1000, Bytes: muchBytes})
	var n history.Notes
	n.Add(history.Put, 1, 1, false)
	for i := range uint64(300) {
		h.Append(1+10*i, 0, &n)
	}
	require.EqualValues(t, 256, h.Stats().Entries)
	require.EqualValues(t, 1+10*43, h.Horizon())
}

// The chunks stay within the bound on bytes, by giving up the oldest.
func TestBytes(t *testing.T) {
	for _, most := range []int64{1, 5_000, 50_000, 200_000} {
		w := newWorld(t, uint64(most), history.Limits{Entries: 1 << 40, Bytes: most})
		raised := false
		for range 30 {
			w.write(w.randomOps(4000))
			if w.r.IntN(3) > 0 {
				require.NoError(t, w.s.Checkpoint(ctx))
				st := w.h.Stats()
				require.LessOrEqual(t, st.Bytes-st.MemoryBytes, most)
				require.Zero(t, st.MemoryBytes, "all is folded")
			}
			if w.r.IntN(10) == 0 {
				w.reopen(false)
			}
			horizon := w.h.Horizon()
			require.GreaterOrEqual(t, horizon, w.horizon)
			raised = raised || horizon > w.horizon
			w.horizon = horizon
			for len(w.model) > 0 && w.model[0].Seq <= horizon {
				w.model = w.model[1:]
			}
			w.check()
		}
		require.True(t, raised)
		if most > 10_000 {
			require.NotEmpty(t, w.model)
		}
	}
}

// Memory is bounded too, where nothing is folded.
func TestMemoryBytes(t *testing.T) {
	h := history.New(history.Limits{Entries: 1 << 40, Bytes: 100_000})
	var n history.Notes
	for i := range 5000 {
		n.Add(history.Put, 1, uint64(i), false)
	}
	for i := range uint64(50) {
		h.Append(1+5000*i, int64(i), &n)
		require.LessOrEqual(t, h.Stats().MemoryBytes, int64(100_000+20_000))
	}
	require.Greater(t, h.Horizon(), uint64(49*5000-5000))
	require.EqualValues(t, 50*5000, h.Horizon()+h.Stats().Entries)
}

// What is kept takes up little room.
func TestChunkSizes(t *testing.T) {
	w := newWorld(t, 3, history.Limits{Entries: 1 << 40, Bytes: muchBytes})
	ascending := make([]history.Entry, 100_000)
	for i := range ascending {
		ascending[i] = history.Entry{Collection: 1, ID: uint64(i) + 1}
	}
	w.write(ascending)
	require.NoError(t, w.s.Checkpoint(ctx))
	require.Less(t, w.h.Stats().Bytes, int64(105_000), "about a byte an entry")

	// Folds of few entries each do not leave a chunk each.
	before := w.h.Stats().Bytes
	for i := range 200 {
		w.write([]history.Entry{{Collection: 1, ID: uint64(i) * 1000}})
		require.NoError(t, w.s.Checkpoint(ctx))
	}
	w.check()
	require.Less(t, w.h.Stats().Bytes-before, int64(200*10))
}

// Smaller bounds push out what is too much, as soon as the store is opened.
func TestLimitsChange(t *testing.T) {
	w := newWorld(t, 4, history.Limits{Entries: 1000, Bytes: muchBytes})
	for range 10 {
		w.write(w.randomOps(50))
	}
	for _, entries := range []uint64{10, 0, 1000} {
		w.limits.Entries = entries
		w.reopen(false)
		w.bound()
		w.check()
		w.write(w.randomOps(50))
		require.NoError(t, w.s.Checkpoint(ctx))
		w.check()
		if entries == 0 {
			require.Zero(t, w.h.Stats().Bytes)
		}
	}
}

// A reader whose chunks are pushed out before it has opened the base is told so.
func TestPushedOutWhileReading(t *testing.T) {
	w := newWorld(t, 12, history.Limits{Entries: 10, Bytes: muchBytes})
	w.write(make([]history.Entry, 10))
	require.NoError(t, w.s.Checkpoint(ctx))
	late := func() (*base.Tx, error) {
		w.write(make([]history.Entry, 5))
		require.NoError(t, w.s.Checkpoint(ctx))
		return w.s.Base()
	}
	horizon, ok, err := w.h.Read(late, 0, 10, func(history.Entry) bool { return true })
	require.NoError(t, err)
	require.False(t, ok)
	require.EqualValues(t, 5, horizon)
}

// A program without a history leaves a file whose history begins anew.
func TestForeignFolds(t *testing.T) {
	w := newWorld(t, 5, history.Limits{Entries: 1000, Bytes: muchBytes})
	w.write(w.randomOps(50))
	require.NoError(t, w.s.Close())

	plain, err := store.Open(w.path, store.Options{})
	require.NoError(t, err)
	b, err := plain.Begin(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, b.Log([]byte("x"), 1))
	_, err = b.Commit(nil)
	require.NoError(t, err)
	require.NoError(t, plain.Close())

	w.open()
	w.horizon, w.model = w.s.Seq(), nil
	w.check()
	w.write(w.randomOps(50))
	w.reopen(false)
	w.check()
}

func TestImage(t *testing.T) {
	w := newWorld(t, 6, history.Limits{Entries: 1000, Bytes: muchBytes})
	for range 10 {
		w.write(w.randomOps(50))
	}
	m, err := w.s.OpenImage(ctx)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "other.fenec")
	require.NoError(t, store.Install(path, m, nil))
	require.NoError(t, m.Close())
	require.NoError(t, w.s.Close())
	w.path = path
	w.open()
	w.check()
	w.write(w.randomOps(50))
	w.check()
}

// In memory the history is bounded and folds too.
func TestInMemory(t *testing.T) {
	w := newWorld(t, 7, history.Limits{Entries: 300, Bytes: muchBytes})
	require.NoError(t, w.s.Close())
	w.path = ""
	w.open()
	w.horizon, w.model = 0, nil
	for range 30 {
		w.write(w.randomOps(100))
		w.check()
		require.NoError(t, w.s.Checkpoint(ctx))
		w.check()
	}
}

func TestNames(t *testing.T) {
	w := newWorld(t, 8, history.Limits{Entries: 100, Bytes: muchBytes})
	w.write([]history.Entry{{Op: history.Create, Collection: 1}, {Op: history.Drop, Collection: 1}})
	require.Equal(t, "c1", w.h.Name(1))
	require.Empty(t, w.h.Name(2))
	w.reopen(false)
	require.Equal(t, "c1", w.h.Name(1))
	w.write(make([]history.Entry, 98))
	require.Equal(t, "c1", w.h.Name(1))
	w.write(make([]history.Entry, 2))
	require.Empty(t, w.h.Name(1), "its entry was pushed out")
	for i := range uint32(300) {
		w.write([]history.Entry{{Op: history.Drop, Collection: i}})
	}
	require.Empty(t, w.h.Name(44))
	require.Equal(t, "c299", w.h.Name(299))
}

// Readers see every entry once and in order while writers write and
// checkpoints fold.
func TestReadWhileFolding(t *testing.T) {
	w := newWorld(t, 9, history.Limits{Entries: 5000, Bytes: 20_000})
	var done atomic.Bool
	var readers sync.WaitGroup
	var bad atomic.Pointer[history.Entry]
	for range 2 {
		readers.Go(func() {
			var cursor uint64
			for !done.Load() && bad.Load() == nil {
				upTo := w.s.Seq()
				from := cursor
				horizon, ok, err := w.h.Read(w.s.Base, from, upTo, func(e history.Entry) bool {
					if e.Seq != cursor+1 || e.ID != e.Seq {
						bad.Store(&e)
					}
					cursor = e.Seq
					return true
				})
				switch {
				case err != nil:
					bad.Store(&history.Entry{})
				case !ok:
					cursor = horizon
				case cursor != max(upTo, from):
					bad.Store(&history.Entry{Seq: cursor})
				}
			}
		})
	}
	var folds sync.WaitGroup
	folds.Go(func() {
		for !done.Load() {
			if w.s.Checkpoint(ctx) != nil {
				bad.Store(&history.Entry{})
			}
		}
	})
	for range 1500 {
		ops := make([]history.Entry, 1+w.r.IntN(30))
		for i := range ops {
			ops[i] = history.Entry{Collection: 1, ID: w.s.Seq() + 1 + uint64(i)}
		}
		w.write(ops)
	}
	done.Store(true)
	readers.Wait()
	folds.Wait()
	require.Nil(t, bad.Load())
}

// damage changes a byte of a stored value.
func (w *world) damage(seq uint64) {
	w.t.Helper()
	f, err := base.Open(w.path)
	require.NoError(w.t, err)
	tx, err := f.Acquire()
	require.NoError(w.t, err)
	key := binary.BigEndian.AppendUint64(nil, seq)
	value, err := tx.Get(history.Space, key)
	require.NoError(w.t, err)
	value = bytes.Clone(value)
	value[len(value)/2]++
	tx.Release()
	done := false
	require.NoError(w.t, f.Fold(f.Folded(), func() (base.Change, bool) {
		again := done
		done = true
		return base.Change{Space: history.Space, Key: key, Value: value}, !again
	}))
	require.NoError(w.t, f.Close())
}

// A damaged chunk is found by readers and does not stop folds. It goes when it
// is pushed out.
func TestDamagedChunk(t *testing.T) {
	w := newWorld(t, 10, history.Limits{Entries: 20, Bytes: muchBytes})
	w.write(w.randomOps(10))
	require.NoError(t, w.s.Close())
	w.damage(1)
	w.open()
	first := w.s.Seq()
	w.write(w.randomOps(10))
	require.NoError(t, w.s.Checkpoint(ctx))
	_, _, err := w.h.Read(w.s.Base, 0, w.s.Seq(), func(history.Entry) bool { return true })
	require.ErrorIs(t, err, history.ErrCorrupt)
	w.compare(first, w.s.Seq())
	require.ErrorIs(t, w.verify(), history.ErrCorrupt)

	w.write(make([]history.Entry, 20))
	require.NoError(t, w.s.Checkpoint(ctx))
	w.check()
	require.NoError(t, w.verify())
}

// A damaged head is found by the open.
func TestDamagedHead(t *testing.T) {
	w := newWorld(t, 11, history.Limits{Entries: 20, Bytes: muchBytes})
	w.write(w.randomOps(10))
	require.NoError(t, w.s.Close())
	w.damage(0)
	_, err := store.Open(w.path, store.Options{Load: w.h.Load, Owners: []store.Owner{w.h}})
	require.ErrorIs(t, err, history.ErrCorrupt)
}

func (w *world) verify() error {
	r, err := w.s.Read()
	require.NoError(w.t, err)
	defer r.End()
	return history.Verify(&r.View)
}
