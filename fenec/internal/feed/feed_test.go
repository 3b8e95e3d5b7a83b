package feed_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// The feed is what a list would be, whatever becomes of the store.
func TestModel(t *testing.T) {
	rounds := 60
	if os.Getenv("FENEC_LONG") != "" {
		rounds = 1000
	}
	for _, limit := range []int64{1, 1000, 20_000, 300_000, muchBytes} {
		w := newWorld(t, uint64(limit), limit)
		raised := false
		for range rounds {
			switch w.r.IntN(12) {
			case 0:
				w.reopen()
			case 1:
				w.crash()
			case 2, 3:
				require.NoError(t, w.s.Checkpoint(ctx))
			case 4:
				w.write(w.randomOps(2000, 40))
			case 5:
				require.NoError(t, w.s.Compact(ctx))
			case 6:
				w.write(w.randomOps(10, 20_000))
			case 7: // a fold of half
				sn, err := w.s.Snapshot()
				require.NoError(t, err)
				w.write(w.randomOps(20, 300))
				require.NoError(t, w.s.Checkpoint(ctx))
				w.check()
				sn.Close()
			default:
				w.write(w.randomOps(20, 300))
			}
			w.check()
			raised = raised || w.horizon > 0
		}
		require.Equal(t, limit < muchBytes, raised, limit)
		if limit > 10_000 {
			require.NotEmpty(t, w.model)
		}
	}
}

// The file and the memory stay within the bound, by giving up the oldest.
func TestBytes(t *testing.T) {
	for _, limit := range []int64{10_000, 500_000} {
		w := newWorld(t, uint64(limit), limit)
		for range 40 {
			w.write(w.randomOps(int(limit)/1000, 300))
			most := limit + 40_000 // a chunk and what a definition takes
			require.LessOrEqual(t, w.f.Stats().MemoryBytes, most)
			if w.r.IntN(3) > 0 {
				require.NoError(t, w.s.Checkpoint(ctx))
				st := w.f.Stats()
				require.LessOrEqual(t, st.Bytes, limit+limit/8/4+400)
				require.False(t, w.f.Waits())
			}
			w.check()
		}
		require.NotEmpty(t, w.model)
	}
}

// A block that is more than the bound is not kept, nor anything before it, and what
// comes after it is.
func TestTooLargeABlock(t *testing.T) {
	w := newWorld(t, 1, 10_000)
	w.write(w.randomOps(5, 100))
	w.write([][]byte{make([]byte, 5000), make([]byte, 3000), make([]byte, 4000)})
	w.check()
	require.Equal(t, w.s.Seq(), w.horizon)
	w.write(w.randomOps(5, 100))
	w.check()
	require.NotEmpty(t, w.model)
	w.reopen()
	w.check()
	require.NotEmpty(t, w.model)
}

// Many small folds do not leave a chunk and definitions each.
func TestSmallFolds(t *testing.T) {
	w := newWorld(t, 2, muchBytes)
	for i := range 200 {
		w.write([][]byte{{0, 0, byte(i)}})
		require.NoError(t, w.s.Checkpoint(ctx))
		if i%10 == 0 {
			w.reopen()
		}
	}
	w.check()
	require.Less(t, w.f.Stats().Bytes, int64(200*12*2))
}

// A block that a replay hands over in parts is one block.
func TestParts(t *testing.T) {
	f := feed.New(muchBytes)
	add := func(block, first uint64, n int) {
		f.Begin()
		for range n {
			f.Add(definitions[0][0], []byte{0, 0, 1})
		}
		f.Append(block, first, 7)
	}
	add(1, 1, 2)
	add(3, 3, 4)
	add(3, 7, 4)
	add(11, 11, 1)
	var blocks []uint64
	_, ok, err := f.Read(nil, 0, 11, func(e feed.Entry) bool {
		blocks = append(blocks, e.Block)
		return true
	})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []uint64{1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 11}, blocks)
}

// What was added of a block that never was is forgotten.
func TestRollback(t *testing.T) {
	w := newWorld(t, 3, muchBytes)
	w.write(w.randomOps(5, 100))
	b, err := w.s.Begin(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, w.fill(b, w.randomOps(5, 100)))
	b.Rollback()
	w.write(w.randomOps(5, 100))
	w.check()
}

// A feed that is turned off leaves the file; one that is turned on begins there.
func TestOffAndOn(t *testing.T) {
	w := newWorld(t, 4, muchBytes)
	w.write(w.randomOps(500, 300))
	w.reopen()
	w.limit = 0
	w.reopen()
	require.False(t, w.f.On())
	require.True(t, w.f.Waits())
	require.NoError(t, w.s.Checkpoint(ctx), "nothing was written")
	require.False(t, w.f.Waits())
	spaces, err := w.s.Spaces()
	require.NoError(t, err)
	require.NotContains(t, spaces, feed.Space)
	w.write(w.randomOps(5, 300))
	require.Zero(t, w.f.Stats().Bytes)
	w.limit = muchBytes
	w.reopen()
	w.horizon = w.s.Seq()
	w.check()
	w.write(w.randomOps(5, 300))
	w.crash()
	w.check()
	require.NotEmpty(t, w.model)
}

// A smaller bound is kept with the next fold.
func TestShrink(t *testing.T) {
	w := newWorld(t, 5, muchBytes)
	for range 50 {
		w.write(w.randomOps(100, 300))
	}
	w.limit = 100_000
	w.reopen()
	w.check()
	require.Zero(t, w.horizon)
	require.True(t, w.f.Waits())
	require.NoError(t, w.s.Checkpoint(ctx), "nothing was written")
	require.LessOrEqual(t, w.f.Stats().Bytes, w.limit)
	w.check()
	require.NotZero(t, w.horizon)
	require.NotEmpty(t, w.model)
}

// A program without a feed leaves a file whose feed begins anew.
func TestForeignFolds(t *testing.T) {
	w := newWorld(t, 6, muchBytes)
	w.write(w.randomOps(500, 300))
	require.NoError(t, w.s.Close())

	plain, err := store.Open(w.path, store.Options{FS: w.mem})
	require.NoError(t, err)
	b, err := plain.Begin(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, b.Log([]byte("x"), 1))
	_, err = b.Commit(nil)
	require.NoError(t, err)
	require.NoError(t, plain.Close())

	w.open()
	w.horizon = w.s.Seq()
	w.check()
	w.write(w.randomOps(50, 300))
	w.reopen()
	w.check()
	require.LessOrEqual(t, w.f.Stats().Bytes, int64(50*310+30_000), "the old chunks are gone")
}

// An image takes the feed along.
func TestImage(t *testing.T) {
	w := newWorld(t, 7, muchBytes)
	for range 10 {
		w.write(w.randomOps(50, 300))
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
	w.write(w.randomOps(50, 300))
	w.check()
}

// In memory the feed is bounded and folds too.
func TestInMemory(t *testing.T) {
	w := newWorld(t, 8, 30_000)
	require.NoError(t, w.s.Close())
	w.path = ""
	w.open()
	for range 30 {
		w.write(w.randomOps(50, 100))
		w.check()
		require.NoError(t, w.s.Checkpoint(ctx))
		w.check()
	}
	require.NotEmpty(t, w.model)
}

// A reader whose chunks are pushed out before it has opened the base is told so.
func TestPushedOutWhileReading(t *testing.T) {
	w := newWorld(t, 9, 2000)
	w.write(w.randomOps(10, 100))
	require.NoError(t, w.s.Checkpoint(ctx))
	late := func() (*base.Tx, error) {
		for range 10 {
			w.write(w.randomOps(10, 100))
			require.NoError(t, w.s.Checkpoint(ctx))
		}
		return w.s.Base()
	}
	horizon, ok, err := w.f.Read(late, 0, 1, func(feed.Entry) bool { return true })
	require.NoError(t, err)
	require.False(t, ok)
	require.Positive(t, horizon)
}

// Readers see every entry once and in order while writers write and checkpoints
// fold, and what they were given does not change.
func TestReadWhileFolding(t *testing.T) {
	w := newWorld(t, 10, 200_000)
	var done atomic.Bool
	var readers sync.WaitGroup
	var bad atomic.Pointer[feed.Entry]
	for range 2 {
		readers.Go(func() {
			var cursor uint64
			var kept []feed.Entry
			for !done.Load() && bad.Load() == nil {
				upTo := w.s.Seq()
				from := cursor
				horizon, ok, err := w.f.Read(w.s.Base, from, upTo, func(e feed.Entry) bool {
					if e.Seq != cursor+1 || binary.BigEndian.Uint64(e.Op[2:]) != e.Seq {
						bad.Store(&e)
					}
					cursor = e.Seq
					kept = append(kept, e)
					return true
				})
				switch {
				case err != nil:
					bad.Store(&feed.Entry{})
				case !ok:
					cursor = horizon
				case cursor != max(upTo, from):
					bad.Store(&feed.Entry{Seq: cursor})
				}
			}
			for _, e := range kept {
				if binary.BigEndian.Uint64(e.Op[2:]) != e.Seq {
					bad.Store(&e)
				}
			}
		})
	}
	var folds sync.WaitGroup
	folds.Go(func() {
		for !done.Load() {
			if w.s.Checkpoint(ctx) != nil {
				bad.Store(&feed.Entry{})
			}
		}
	})
	for range 1000 {
		ops := make([][]byte, 1+w.r.IntN(30))
		for i := range ops {
			op := append([]byte{byte(w.r.IntN(2)), 0}, make([]byte, 8+w.r.IntN(100))...)
			binary.BigEndian.PutUint64(op[2:], w.s.Seq()+1+uint64(i))
			ops[i] = op
		}
		w.write(ops)
	}
	done.Store(true)
	readers.Wait()
	folds.Wait()
	require.Nil(t, bad.Load())
}

// What is appended while a fold goes on changes nothing of what it writes.
func TestAppendWhileFolding(t *testing.T) {
	w := newWorld(t, 13, muchBytes)
	w.write(w.randomOps(5, 100))
	tx, err := w.s.Base()
	require.NoError(t, err)
	defer tx.Release()
	for range 5 {
		changes, err := w.f.Fold(tx, w.s.Seq())
		require.NoError(t, err)
		w.write(w.randomOps(5, 100))
		for _, c := range changes {
			_, err := row.Open(c.Value)
			require.NoError(t, err)
		}
	}
}

// What a reader was given from memory stays as it was when the memory goes to others.
func TestReadFromMemoryIsKept(t *testing.T) {
	w := newWorld(t, 14, muchBytes)
	var kept []feed.Entry
	for range 3 {
		for range 30 {
			w.write(w.randomOps(50, 300))
		}
		_, ok, err := w.f.Read(nil, w.s.Stats().FoldedSeq, w.s.Seq(), func(e feed.Entry) bool {
			kept = append(kept, e)
			return true
		})
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, w.s.Checkpoint(ctx))
	}
	var found []entry
	for _, e := range kept {
		found = append(found, entryOf(e))
	}
	requireSame(t, w.model, found, "kept")
}
