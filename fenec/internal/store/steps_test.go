package store_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// moment is what was on disk when a step was taken.
type moment struct {
	step    string
	killed  *disk
	crashed *disk // by a loss of power; what it takes is random
	begun   int   // blocks whose writing had begun
	acked   int   // blocks that had been acknowledged
}

// witness keeps every moment of a store's life.
type witness struct {
	t *testing.T
	d *disk
	r *rand.Rand

	mu      sync.Mutex // guards the fields below
	moments []moment
	begun   int
	acked   int
}

func (w *witness) step(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moments = append(w.moments, moment{
		step: name, begun: w.begun, acked: w.acked,
		killed: w.d.kill(w.t), crashed: w.d.crash(w.t, w.r),
	})
}

// write writes the next counted block.
func (w *witness) write(s *store.Store) {
	w.mu.Lock()
	w.begun++
	n := w.begun
	w.mu.Unlock()
	write(w.t, s, counted(n, 20)...)
	w.mu.Lock()
	w.acked = n
	w.mu.Unlock()
}

// life leads a store through everything a checkpoint has to do with.
func (w *witness) life(opts store.Options) {
	opts.Step, opts.Interval, opts.IdleCheckpoint = w.step, time.Hour, time.Hour
	t := w.t
	s := w.d.open(t, opts)
	for range 3 {
		w.write(s)
	}
	require.NoError(t, s.Checkpoint(ctx))
	w.write(s)
	sn, err := s.Snapshot()
	require.NoError(t, err)
	w.write(s)
	require.NoError(t, s.Checkpoint(ctx)) // folds half
	w.write(s)
	sn.Close() // the rest follows in the background
	require.Eventually(t, func() bool { return s.Stats().FoldedSeq >= s.Seq()-4 }, time.Minute, time.Millisecond)
	w.write(s)
	require.NoError(t, s.Compact(ctx))
	w.write(s)
	m, err := s.OpenImage(ctx)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	w.write(s)
	require.NoError(t, s.Close())
	// A log that is to be replayed, and one that is to be finished.
	w.d = w.d.leave(t, w.killedAt("turned").mem)
	w.begun, w.acked = 0, 0
}

// killedAt returns what the end of the process at a step left.
func (w *witness) killedAt(step string) *disk {
	for _, m := range w.moments {
		if m.step == step {
			return m.killed
		}
	}
	w.t.Fatalf("no step %q", step)
	return nil
}

// Wherever a store ends, every block is there once and whole.
func TestEveryStep(t *testing.T) {
	for _, policy := range []store.Sync{store.SyncAlways, store.SyncOff} {
		t.Run(fmt.Sprint("policy=", policy), func(t *testing.T) {
			w := &witness{t: t, d: newDisk(t), r: rand.New(rand.NewPCG(uint64(policy), 12))}
			w.life(store.Options{Sync: policy})
			seen := map[string]bool{}
			for i, m := range w.moments {
				seen[m.step] = true
				t.Run(fmt.Sprintf("%d %s", i, m.step), func(t *testing.T) {
					m.killed.requireWhole(t, store.Options{}, m.acked, m.begun)
					least := m.acked
					if policy != store.SyncAlways {
						least = 0
					}
					m.crashed.requireWhole(t, store.Options{}, least, m.begun)
				})
			}
			for _, step := range []string{
				"create log", "append", "appended", "turn: rename log", "turn: create log", "turned",
				"fold", "folded", "drop log", "dropped log", "compact", "image",
			} {
				require.True(t, seen[step], step)
			}
		})
	}
}

// A recovery may be cut short too, and then be recovered from.
func TestEveryStepOfOpening(t *testing.T) {
	for _, at := range []string{"turned", "fold", "folded", "drop log"} {
		t.Run(at, func(t *testing.T) {
			w := &witness{t: t, d: newDisk(t), r: rand.New(rand.NewPCG(1, 13))}
			w.life(store.Options{Sync: store.SyncAlways})
			for _, m := range w.moments {
				if m.step != at {
					continue
				}
				again := &witness{t: t, d: m.killed, r: w.r}
				s := again.d.open(t, store.Options{Step: again.step, NoCheckpoint: true})
				// What was written in the background's way may not have been answered.
				n := count(t, s)
				require.GreaterOrEqual(t, n, m.acked)
				require.LessOrEqual(t, n, m.begun)
				require.NoError(t, s.Close())
				seen := map[string]bool{}
				for _, m2 := range again.moments {
					seen[m2.step] = true
					m2.killed.requireWhole(t, store.Options{}, m.acked, m.begun)
					m2.crashed.requireWhole(t, store.Options{}, m.acked, m.begun)
				}
				require.True(t, seen["open: fold"] && seen["open: drop logs"])
			}
		})
	}
}

// Logs cut anywhere are refused, or the blocks are there up to some one.
func TestCutLogs(t *testing.T) {
	w := &witness{t: t, d: newDisk(t), r: rand.New(rand.NewPCG(2, 14))}
	w.life(store.Options{Sync: store.SyncAlways})
	for i, m := range w.moments {
		for _, path := range []func(string) string{store.LogPath, store.OldLogPath} {
			log := m.killed.log(t, path(m.killed.path))
			if log == nil || i%3 != 0 {
				continue
			}
			for range 3 {
				left := m.killed.leave(t, m.killed.mem.Clone())
				n := w.r.IntN(len(log) + 1)
				if w.r.IntN(4) > 0 { // rather where there is something
					n = min(n, 8192+w.r.IntN(2000))
				}
				left.mem.WriteFile(path(left.path), log[:n])
				requirePrefix(t, left, m.begun, fmt.Sprintf("%d %s: %s cut to %d", i, m.step, path("db"), n))
			}
		}
	}
}

// requirePrefix checks that what is left is refused as damaged, or holds some
// number of blocks.
func requirePrefix(t *testing.T, d *disk, most int, what string) {
	t.Helper()
	s, err := store.Open(d.path, d.options(store.Options{}))
	if err != nil {
		require.ErrorIs(t, err, wal.ErrCorrupt, what)
		return
	}
	n := count(t, s)
	require.LessOrEqual(t, n, most, what)
	write(t, s, counted(n+1, 10)...)
	require.NoError(t, s.Close())
	require.NoError(t, checkCounted(d.path, d.options(store.Options{})), what)
}

// After a checkpoint the base alone holds everything.
func TestCheckpointFoldsAll(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	for i := 1; i <= 3; i++ {
		write(t, s, counted(i, 10)...)
	}
	require.NoError(t, s.Checkpoint(ctx))
	require.Equal(t, s.Seq(), s.Stats().FoldedSeq)
	require.Nil(t, d.log(t, store.OldLogPath(d.path)))
	left := d.kill(t)
	require.NoError(t, left.mem.Remove(store.LogPath(left.path)))
	f, err := base.Open(left.path)
	require.NoError(t, err)
	require.Equal(t, s.Seq(), f.Folded())
	require.NoError(t, f.Close())
	require.NoError(t, checkCounted(left.path, left.options(store.Options{})))

	before := d.logged(t)
	require.NoError(t, s.Checkpoint(ctx), "there is nothing to fold")
	require.Equal(t, before, d.logged(t))
}

// A checkpoint folds everything also when the one before could not.
func TestCheckpointAfterOneThatWasHeldUp(t *testing.T) {
	for range 20 {
		s := newDisk(t).open(t, store.Options{})
		write(t, s, counted(1, 10)...)
		sn, err := s.Snapshot()
		require.NoError(t, err)
		write(t, s, counted(2, 10)...)
		require.NoError(t, s.Checkpoint(ctx))
		require.EqualValues(t, 3, s.Stats().FoldedSeq)
		write(t, s, counted(3, 10)...)
		sn.Close()
		require.NoError(t, s.Checkpoint(ctx))
		require.Equal(t, s.Seq(), s.Stats().FoldedSeq)
		require.NoError(t, s.Close())
	}
}

// A dropped space is gone from the base with the fold, and a snapshot from
// before sees it all the while.
func TestDropSpace(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Replay: func(b *store.Block, rec []byte) error {
		if string(rec) == "drop" {
			return b.DropSpace(1)
		}
		return replay(b, rec)
	}})
	write(t, s, op{1, "a", []byte("in the base")}, op{2, "b", []byte("other")})
	require.NoError(t, s.Checkpoint(ctx))
	write(t, s, op{1, "c", []byte("in the front")})
	sn, err := s.Snapshot()
	require.NoError(t, err)
	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, b.DropSpace(1))
	require.NoError(t, b.Log([]byte("drop"), 1))
	_, err = b.Commit(nil)
	require.NoError(t, err)
	require.NoError(t, s.Checkpoint(ctx))
	v := sn.View()
	for key, want := range map[string]string{"a": "in the base", "c": "in the front"} {
		val, err := v.Get(1, []byte(key))
		require.NoError(t, err)
		require.Equal(t, want, string(val))
	}
	v.Release()
	left := d.kill(t)
	sn.Close()
	require.NoError(t, s.Checkpoint(ctx))
	require.NoError(t, s.Checkpoint(ctx))
	spaces, err := s.Spaces()
	require.NoError(t, err)
	require.Equal(t, []uint32{2}, spaces)
	require.NoError(t, s.Close())

	s = left.open(t, store.Options{Replay: func(b *store.Block, rec []byte) error {
		if string(rec) == "drop" {
			return b.DropSpace(1)
		}
		return replay(b, rec)
	}})
	spaces, err = s.Spaces()
	require.NoError(t, err)
	require.Equal(t, []uint32{2}, spaces)
	require.Equal(t, "other", string(get(t, s, 2, "b")))
}
