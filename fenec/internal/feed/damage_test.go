package feed_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// damage changes a byte of a stored value of the closed store.
func (w *world) damage(seq uint64) {
	w.t.Helper()
	f, err := base.Open(w.path)
	require.NoError(w.t, err)
	tx, err := f.Acquire()
	require.NoError(w.t, err)
	key := binary.BigEndian.AppendUint64(nil, seq)
	value, err := tx.Get(feed.Space, key)
	require.NoError(w.t, err)
	value = bytes.Clone(value)
	value[len(value)/2]++
	tx.Release()
	done := false
	require.NoError(w.t, f.Fold(f.Folded(), func() (base.Change, bool) {
		again := done
		done = true
		return base.Change{Space: feed.Space, Key: key, Value: value}, !again
	}))
	require.NoError(w.t, f.Close())
}

// A damaged chunk is found by readers and does not stop folds. It goes when it is
// pushed out.
func TestDamagedChunk(t *testing.T) {
	w := newWorld(t, 11, 4000)
	w.write([][]byte{make([]byte, 300)})
	require.NoError(t, w.s.Close())
	w.damage(1)
	w.open()
	first := w.s.Seq()
	w.write([][]byte{make([]byte, 300)})
	require.NoError(t, w.s.Checkpoint(ctx))
	_, _, err := w.f.Read(w.s.Base, 0, w.s.Seq(), func(feed.Entry) bool { return true })
	require.ErrorIs(t, err, feed.ErrCorrupt)
	w.compare(first, w.s.Seq())
	require.ErrorIs(t, w.verify(), feed.ErrCorrupt)
	for range 20 {
		w.write([][]byte{make([]byte, 300)})
	}
	require.NoError(t, w.s.Checkpoint(ctx))
	w.check()
}

// A damaged head is found by the open, unless there is to be no feed.
func TestDamagedHead(t *testing.T) {
	w := newWorld(t, 12, muchBytes)
	w.write(w.randomOps(10, 100))
	require.NoError(t, w.s.Close())
	w.damage(0)
	_, err := store.Open(w.path, w.options())
	require.ErrorIs(t, err, feed.ErrCorrupt)
	w.limit = 0
	w.open()
}
