package feed_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// moment is what was on disk when a step was taken.
type moment struct {
	step    string
	killed  *world // by the end of the process
	crashed *world // by a loss of power
	begun   []entry
	served  []entry // what a reader of what is on disk had been given
}

// witness keeps every moment of a world's life.
type witness struct {
	*world
	moments []moment
	begun   []entry // the entries of the block that is being written
	served  []entry
}

// serve reads on, as a consumer does.
func (w *witness) serve() {
	w.t.Helper()
	var after uint64
	if n := len(w.served); n > 0 {
		after = w.served[n-1].Seq
	}
	found, _, ok := w.read(after, w.s.SyncedSeq())
	require.True(w.t, ok)
	w.served = append(w.served, found...)
}

func (w *witness) step(name string) {
	if w.s != nil {
		w.serve()
	}
	w.moments = append(w.moments, moment{
		step: name, killed: w.leave(w.mem.Clone()), crashed: w.leave(w.mem.Crash(w.r)),
		begun: w.begun, served: w.served[:len(w.served):len(w.served)],
	})
}

func (w *witness) write() {
	ops := w.randomOps(4, 60)
	seq := w.s.Seq()
	w.now++
	w.begun = nil
	for i, op := range ops {
		w.begun = append(w.begun, entry{seq + 1 + uint64(i), seq + 1, w.now, string(definitionOf(op).Append(nil)), string(op)})
	}
	b, err := w.s.Begin(ctx, nil)
	require.NoError(w.t, err)
	require.NoError(w.t, w.fill(b, ops))
	ticket, err := b.Commit(func(uint64) { w.f.Append(seq+1, seq+1, w.now) })
	require.NoError(w.t, err)
	require.NoError(w.t, ticket.Wait(ctx))
	w.model = append(w.model, w.begun...)
	w.begun = nil
	w.serve()
}

// life leads a store through everything a fold has to do with. All of it happens on
// this goroutine.
func (w *witness) life(sync store.Sync) {
	w.opts = store.Options{Sync: sync, Interval: time.Hour, IdleCheckpoint: time.Hour, SnapshotTimeout: time.Hour, Step: w.step}
	w.reopen()
	for range 3 {
		w.write()
	}
	require.NoError(w.t, w.s.Checkpoint(ctx))
	w.write()
	w.write()
	require.NoError(w.t, w.s.Sync(ctx))
	w.write()
	require.NoError(w.t, w.s.Checkpoint(ctx))
	w.write()
	require.NoError(w.t, w.s.Compact(ctx))
	w.write()
	require.NoError(w.t, w.s.Close())
	w.open()
	w.write()
}

func newWitness(t *testing.T, seed uint64, sync store.Sync) *witness {
	w := &witness{world: newWorld(t, seed, muchBytes)}
	w.life(sync)
	return w
}

// requireWhole opens what was left and checks that the feed has the first of want,
// at least those of served, each once, and goes on from there whatever follows.
func (w *world) requireWhole(want, served []entry, what string) {
	w.t.Helper()
	w.open()
	for range 2 {
		found, _, ok := w.read(0, w.s.Seq())
		require.True(w.t, ok, what)
		require.LessOrEqual(w.t, len(found), len(want), what)
		require.GreaterOrEqual(w.t, len(found), len(served), what)
		requireSame(w.t, want[:len(found)], found, what)
		requireSame(w.t, served, found[:len(served)], what)
		require.NoError(w.t, w.verify(), what)

		w.model = found
		w.write([][]byte{{0, 0, 1}, {1, 0, 1}})
		served = w.model
		want = w.model
		w.check()
		require.NoError(w.t, w.s.Checkpoint(ctx))
		w.check()
		w.reopen()
		w.check()
	}
	require.NoError(w.t, w.s.Close())
}

// Wherever a store ends, the feed has every write that is there, once and in order,
// and everything that a reader was given.
func TestEveryStep(t *testing.T) {
	for _, policy := range []store.Sync{store.SyncAlways, store.SyncOff} {
		t.Run(fmt.Sprint("policy=", policy), func(t *testing.T) {
			w := newWitness(t, uint64(policy)+20, policy)
			seen := map[string]bool{}
			for i, m := range w.moments {
				seen[m.step] = true
				what := fmt.Sprintf("%d %s", i, m.step)
				want := append(m.killed.model[:len(m.killed.model):len(m.killed.model)], m.begun...)
				m.killed.requireWhole(want, m.killed.model, what+" killed")
				m.crashed.requireWhole(want, m.served, what+" without power")
			}
			for _, step := range []string{"append", "appended", "turned", "fold", "folded", "drop log", "dropped log", "compact: install"} {
				require.True(t, seen[step], step)
			}
		})
	}
}

// logHeader is the length of a log's header, in bytes.
const logHeader = 8192

// Logs cut at any byte around a fold are refused, or the feed has the writes up to
// some one, those of the base and those of the logs, each once.
func TestCutLogs(t *testing.T) {
	w := newWitness(t, 30, store.SyncAlways)
	for _, step := range []string{"turned", "folded", "dropped log"} {
		m := w.last(step)
		want := append(m.killed.model[:len(m.killed.model):len(m.killed.model)], m.begun...)
		for _, path := range []func(string) string{store.LogPath, store.OldLogPath} {
			log, err := m.killed.mem.ReadFile(path(m.killed.path))
			if err != nil {
				continue
			}
			log = bytes.TrimRight(log, "\x00")
			for n := range log {
				if n < logHeader && n%500 != 0 {
					continue
				}
				left := m.killed.leave(m.killed.mem.Clone())
				left.mem.WriteFile(path(left.path), log[:n])
				left.requirePrefix(want, n%50 == 0, fmt.Sprintf("%s: %s cut to %d", step, path("db"), n))
			}
		}
	}
}

// last returns the last moment of a step.
func (w *witness) last(step string) moment {
	for i := len(w.moments) - 1; i >= 0; i-- {
		if w.moments[i].step == step {
			return w.moments[i]
		}
	}
	w.t.Fatalf("no step %q", step)
	return moment{}
}

// requirePrefix checks that what is left is refused as damaged, or has some of the
// first entries of want; and that it goes on from there, if it is to.
func (w *world) requirePrefix(want []entry, goOn bool, what string) {
	w.t.Helper()
	w.f = feed.New(w.limit)
	s, err := store.Open(w.path, w.options())
	if err != nil {
		require.ErrorIs(w.t, err, wal.ErrCorrupt, what)
		return
	}
	w.s = s
	defer func() { require.NoError(w.t, w.s.Close()) }()
	found, _, ok := w.read(0, w.s.Seq())
	require.True(w.t, ok, what)
	require.LessOrEqual(w.t, len(found), len(want), what)
	requireSame(w.t, want[:len(found)], found, what)
	if !goOn {
		return
	}
	w.model = found
	w.write([][]byte{{2, 0, 1}})
	w.check()
	w.reopen()
	w.check()
}
