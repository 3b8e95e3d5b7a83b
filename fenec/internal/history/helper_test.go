package history_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

var ctx = context.Background()

// world is a store with a history, and the list of what should be in it.
type world struct {
	t       *testing.T
	r       *rand.Rand
	path    string
	limits  history.Limits
	opts    store.Options
	s       *store.Store
	h       *history.History
	notes   history.Notes
	now     int64
	model   []history.Entry // past horizon
	horizon uint64
	copies  int
}

func newWorld(t *testing.T, seed uint64, limits history.Limits) *world {
	w := &world{
		t: t, r: rand.New(rand.NewPCG(seed, 7)), limits: limits, now: 1_700_000_000_000,
		path: filepath.Join(t.TempDir(), "acme.fenec"),
	}
	w.open()
	t.Cleanup(func() { require.NoError(t, w.s.Close()) })
	return w
}

func (w *world) open() {
	w.t.Helper()
	w.h = history.New(w.limits)
	o := w.opts
	o.Owners, o.Load, o.Replay = []store.Owner{w.h}, w.h.Load, w.replay
	o.CompactRatio, o.Clock = -1, func() time.Time { return time.UnixMilli(w.now) }
	var err error
	w.s, err = store.Open(w.path, o)
	require.NoError(w.t, err)
}

// reopen closes the store, folding what it holds or not, and opens it again.
func (w *world) reopen(keepLog bool) {
	w.t.Helper()
	if keepLog {
		w.crash()
		return
	}
	require.NoError(w.t, w.s.Close())
	w.open()
}

// crash goes on with the files as they are at the moment.
func (w *world) crash() {
	w.t.Helper()
	w.copies++
	to := filepath.Join(filepath.Dir(w.path), fmt.Sprintf("copy%d.fenec", w.copies))
	for _, path := range []func(string) string{func(p string) string { return p }, store.LogPath, store.OldLogPath} {
		b, err := os.ReadFile(path(w.path))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(w.t, err)
		require.NoError(w.t, os.WriteFile(path(to), b, 0o600))
	}
	require.NoError(w.t, w.s.Close())
	w.path = to
	w.open()
}

// randomOps are some entries without their places.
func (w *world) randomOps(most int) []history.Entry {
	ops := make([]history.Entry, 1+w.r.IntN(most))
	for i := range ops {
		e := history.Entry{Collection: 1 + w.r.Uint32N(4), Op: history.Op(w.r.IntN(2)), ID: w.r.Uint64N(1 << w.r.UintN(53))}
		if i > 0 && w.r.IntN(2) == 0 {
			e.Collection, e.ID = ops[i-1].Collection, ops[i-1].ID+1
		}
		if w.r.IntN(20) == 0 {
			e.Op, e.ID = history.Create+history.Op(w.r.IntN(3)), 0
		}
		e.Internal = e.Collection == 3
		ops[i] = e
	}
	return ops
}

// name is what collections are called when they go.
func name(number uint32) string { return fmt.Sprint("c", number) }

func note(n *history.Notes, e history.Entry) {
	n.Add(e.Op, e.Collection, e.ID, e.Internal)
	if e.Op == history.Drop {
		n.Dropped(name(e.Collection))
	}
}

// write commits one block.
func (w *world) write(ops []history.Entry) {
	w.t.Helper()
	if w.r.IntN(3) == 0 {
		w.now += w.r.Int64N(5000) - 500
	}
	b, err := w.s.Begin(ctx, nil)
	require.NoError(w.t, err)
	first := b.Next()
	w.notes.Reset()
	for i, e := range ops {
		note(&w.notes, e)
		op := binary.AppendUvarint([]byte{byte(e.Op), byte(e.Collection)}, e.ID)
		require.NoError(w.t, b.Log(op, 1))
		require.NoError(w.t, b.Put(1, binary.AppendUvarint(nil, e.ID), op))
		ops[i].Seq, ops[i].At = first+uint64(i), w.now
	}
	_, err = b.Commit(func(uint64) { w.h.Append(first, b.Time().UnixMilli(), &w.notes) })
	require.NoError(w.t, err)
	w.model = append(w.model, ops...)
	w.bound()
}

func (w *world) replay(b *store.Block, record []byte) error {
	first := b.Next()
	w.notes.Reset()
	for len(record) > 0 {
		id, n := binary.Uvarint(record[2:])
		e := history.Entry{Op: history.Op(record[0]), Collection: uint32(record[1]), ID: id, Internal: record[1] == 3}
		note(&w.notes, e)
		op := record[:2+n]
		if err := b.Log(op, 1); err != nil {
			return err
		}
		if err := b.Put(1, record[2:2+n], op); err != nil {
			return err
		}
		record = record[2+n:]
	}
	w.h.Append(first, b.Time().UnixMilli(), &w.notes)
	return nil
}

// bound pushes out of the model what is too much.
func (w *world) bound() {
	if over := len(w.model) - int(w.limits.Entries); over > 0 {
		w.horizon = w.model[over-1].Seq
		w.model = w.model[over:]
	}
}

// read returns the entries in (after, upTo].
func (w *world) read(after, upTo uint64) (found []history.Entry, horizon uint64, ok bool) {
	w.t.Helper()
	horizon, ok, err := w.h.Read(w.s.Base, after, upTo, func(e history.Entry) bool {
		found = append(found, e)
		return true
	})
	require.NoError(w.t, err)
	return found, horizon, ok
}

// check compares the history with the model, all of it and a part.
func (w *world) check() {
	w.t.Helper()
	require.Equal(w.t, w.horizon, w.h.Horizon())
	st := w.h.Stats()
	require.EqualValues(w.t, len(w.model), st.Entries)
	seq := w.s.Seq()
	w.compare(w.horizon, seq)
	if seq > w.horizon {
		from := w.horizon + w.r.Uint64N(seq-w.horizon)
		w.compare(from, from+w.r.Uint64N(seq-from+1))
	}
	require.NoError(w.t, w.verify())
	if w.horizon > 0 {
		found, horizon, ok := w.read(w.horizon-1, seq)
		require.False(w.t, ok)
		require.Empty(w.t, found)
		require.Equal(w.t, w.horizon, horizon)
	}
}

func (w *world) compare(after, upTo uint64) {
	w.t.Helper()
	var want []history.Entry
	for _, e := range w.model {
		if e.Seq > after && e.Seq <= upTo {
			want = append(want, e)
		}
	}
	found, _, ok := w.read(after, upTo)
	require.True(w.t, ok)
	if !slices.Equal(want, found) {
		require.Equal(w.t, want, found, "from %d to %d, horizon %d", after, upTo, w.horizon)
	}
}
