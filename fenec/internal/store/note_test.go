package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// noted is an owner that keeps the last note.
type noted struct {
	now, folded, taken string
	follows            bool
}

const notedSpace = 1 << 20

func (n *noted) options() store.Options {
	return store.Options{
		Owners: []store.Owner{n}, Follows: func() bool { return n.follows },
		TakeNote: func(note []byte) error { n.now = string(note); return nil },
		Load: func(v *store.View) error {
			b, err := v.Get(notedSpace, []byte("note"))
			n.now, n.folded = string(b), string(b)
			return err
		},
	}
}

func (n *noted) Fold(*base.Tx, uint64) ([]base.Change, error) {
	n.taken = n.now
	if !n.Waits() {
		return nil, nil
	}
	return []base.Change{{Space: notedSpace, Key: []byte("note"), Value: []byte(n.now)}}, nil
}
func (n *noted) Folded(uint64) { n.folded = n.taken }
func (n *noted) Waits() bool   { return n.now != n.folded }

func (n *noted) note(t *testing.T, s *store.Store, text string, seq uint64) {
	t.Helper()
	require.NoError(t, s.Note(ctx, func() (*store.Note, error) {
		return &store.Note{Record: []byte(text), Seq: seq, Publish: func() { n.now = text }}, nil
	}))
}

// A note is on disk when it returns, wherever the end comes, and older ones in the log do
// not undo what was folded.
func TestNotesOutliveTheEnd(t *testing.T) {
	d := newDisk(t)
	n := new(noted)
	s := d.open(t, n.options())
	last := ""
	step := func(text string) {
		n.note(t, s, text, 0)
		last = text
	}
	requireKept := func() {
		t.Helper()
		for _, left := range []*disk{d.kill(t), d.crash(t, nil)} {
			found := new(noted)
			s := left.open(t, found.options())
			require.Equal(t, last, found.now)
			require.NoError(t, s.Close())
			require.NoError(t, left.open(t, found.options()).Close())
			require.Equal(t, last, found.folded)
		}
	}
	step("first")
	requireKept()
	write(t, s, counted(1, 3)...)
	step("second")
	write(t, s, counted(2, 3)...)
	requireKept()
	require.NoError(t, s.Checkpoint(ctx))
	requireKept()
	step("third") // though nothing else is in the log
	image(t, s)
	requireKept()
	step("fourth")
	requireKept()
	require.NoError(t, s.CloseUnfolded())
	requireKept()
	s = d.open(t, n.options())
	require.Equal(t, "fourth", n.now)
	require.NoError(t, s.Close())
	requireKept()
	require.NoFileExists(t, store.LogPath(d.path))
}

// A note may raise the sequence, for good.
func TestNoteThatPassesOverNumbers(t *testing.T) {
	d := newDisk(t)
	n := new(noted)
	s := d.open(t, n.options())
	write(t, s, counted(1, 3)...)
	n.note(t, s, "far", 1<<30)
	require.EqualValues(t, 1<<30, s.Seq())
	require.EqualValues(t, 1<<30, s.SyncedSeq())
	for _, left := range []*disk{d.kill(t), d.crash(t, nil)} {
		s := left.open(t, new(noted).options())
		require.GreaterOrEqual(t, s.Seq(), uint64(1<<30))
		require.Greater(t, write(t, s, counted(2, 3)...).From, uint64(1<<30))
	}
	require.NoError(t, s.Checkpoint(ctx))
	require.NoError(t, s.Close())
	require.EqualValues(t, 1<<30, d.open(t, n.options()).Seq())
}

// A store that follows stands where its last block is after any end, and is given the
// blocks of numbers that others were given before.
func TestStoreThatFollows(t *testing.T) {
	d := newDisk(t)
	n := &noted{follows: true}
	s := d.open(t, n.options())
	at := func(s *store.Store, first uint64, i int) {
		t.Helper()
		b, err := s.BeginAt(ctx, first, time.UnixMilli(7))
		require.NoError(t, err)
		require.Equal(t, first, b.Next())
		require.NoError(t, fill(b, counted(i, 3)...))
		ticket, err := b.Commit(nil)
		require.NoError(t, err)
		require.Equal(t, first, ticket.From)
	}
	at(s, 10, 1)
	at(s, s.Seq()+5_000_000, 2)
	last := s.Seq()
	require.NoError(t, s.Sync(ctx))
	for _, left := range []*disk{d.kill(t), d.crash(t, nil)} {
		s := left.open(t, n.options())
		require.Equal(t, last, s.Seq())
		_, err := s.BeginAt(ctx, s.Seq(), time.UnixMilli(7))
		require.Error(t, err)
		at(s, s.Seq()+1, 3)
		require.Equal(t, 3, count(t, s))
	}
}

// After an unclean end the log that is begun next goes on far past the last block of the
// one before it. It is whole all the same when the next end comes before the fold.
func TestTurnedAfterUncleanEnd(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	write(t, s, counted(1, 3)...)
	require.NoError(t, s.Sync(ctx))
	d = d.kill(t)
	var left []*disk
	var t2 store.Options
	t2.Sync = store.SyncAlways
	t2.Step = func(name string) {
		if name == "fold" && left == nil {
			left = []*disk{}
			ticket := write(t, s, counted(2, 3)...)
			require.NoError(t, ticket.Wait(ctx))
			left = append(left, d.kill(t), d.crash(t, nil))
		}
	}
	s = d.open(t, t2)
	require.NoError(t, s.Checkpoint(ctx))
	require.Len(t, left, 2)
	for _, l := range left {
		l.requireWhole(t, store.Options{}, 2, 2)
	}
}
