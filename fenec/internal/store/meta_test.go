package store_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Where the two meta pages of a base are, and where in one is its transaction.
const (
	metaPage = 4096
	metaTx   = 16 + 48
)

// youngerMeta returns the meta page that the base goes by.
func youngerMeta(t *testing.T, d *disk) int {
	t.Helper()
	b, err := os.ReadFile(d.path)
	require.NoError(t, err)
	if binary.NativeEndian.Uint64(b[metaTx:]) > binary.NativeEndian.Uint64(b[metaPage+metaTx:]) {
		return 0
	}
	return 1
}

// damageMeta flips a bit of a meta page.
func (d *disk) damageMeta(t *testing.T, page, at int) {
	t.Helper()
	b, err := os.ReadFile(d.path)
	require.NoError(t, err)
	b[page*metaPage+at] ^= 4
	require.NoError(t, os.WriteFile(d.path, b, 0o600))
}

// A meta page that is damaged after the end of a store, so that its last fold may be
// gone, is neither opened past nor written over.
func TestDamagedMetaOfAClosedStore(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	for i := 1; i <= 5; i++ {
		write(t, s, counted(i, 10)...)
		require.NoError(t, s.Checkpoint(ctx))
	}
	require.NoError(t, s.Close())
	for page := range 2 {
		for _, at := range []int{16, 20, 40, metaTx, 72} {
			left := d.kill(t)
			left.damageMeta(t, page, at)
			before, err := os.ReadFile(left.path)
			require.NoError(t, err)
			_, err = store.Open(left.path, left.options(store.Options{}))
			for _, err := range []error{err, checkCounted(left.path, left.options(store.Options{}))} {
				require.ErrorIs(t, err, base.ErrCorrupt)
				require.ErrorContains(t, err, fmt.Sprintf("%s: corrupt: meta page %d, at byte %d, is damaged", left.path, page, page*metaPage))
			}
			after, err := os.ReadFile(left.path)
			require.NoError(t, err)
			require.Equal(t, before, after)
		}
	}
}

// Whichever meta page is damaged at whatever moment, the store is refused or nothing is
// lost. The one that a fold is writing when it is cut short is no reason to refuse.
func TestDamagedMetaAtEveryStep(t *testing.T) {
	w := &witness{t: t, d: newDisk(t), r: rand.New(rand.NewPCG(3, 15))}
	w.life(store.Options{Sync: store.SyncAlways})
	opened := 0
	for i, m := range w.moments {
		for page := range 2 {
			left := m.killed.leave(t, m.killed.mem.Clone())
			left.damageMeta(t, page, 40)
			newest := page == youngerMeta(t, m.killed)
			what := fmt.Sprintf("%d %s, newest %v", i, m.step, newest)
			require.ErrorIs(t, checkCounted(left.path, left.options(store.Options{})), base.ErrCorrupt, what)
			s, err := store.Open(left.path, left.options(store.Options{}))
			if err != nil {
				require.ErrorIs(t, err, base.ErrCorrupt, what)
				require.False(t, m.step == "fold" && !newest || m.step == "folded" && newest, what)
				continue
			}
			opened++
			require.GreaterOrEqual(t, count(t, s), m.acked, what)
			require.NoError(t, s.CloseUnfolded())
			left.requireWhole(t, store.Options{}, m.acked, m.begun)
		}
	}
	require.Positive(t, opened)
}

// What is folded for owners, or filled in, has a log beside it though nobody has written.
func TestDamagedMetaOfFoldsWithoutBlocks(t *testing.T) {
	d := newDisk(t)
	n := new(noted)
	var left *disk
	opts := n.options()
	opts.NoCheckpoint = true
	opts.Step = func(step string) {
		if step == "fill" || step == "fold owners" {
			left = d.kill(t)
		}
	}
	for name, fold := range map[string]func(s *store.Store) error{
		"owners": func(s *store.Store) error { n.now += "x"; return s.Checkpoint(ctx) },
		"fill": func(s *store.Store) error {
			return s.Fill(3, func(*store.View) ([]store.Entry, error) {
				return []store.Entry{{Key: []byte("k"), Value: []byte("v")}}, nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d = newDisk(t)
			s := d.open(t, store.Options{})
			write(t, s, counted(1, 10)...)
			require.NoError(t, s.Close())
			require.Empty(t, d.mem.Names())
			s = d.open(t, opts)
			seq := s.Seq()
			require.NoError(t, fold(s))
			left.damageMeta(t, 1-youngerMeta(t, left), 40) // it is being written
			cut := left.open(t, store.Options{})
			require.Equal(t, 1, count(t, cut))
			require.Equal(t, seq, cut.Seq(), "the log has reserved nothing")
			require.NoError(t, cut.Close())
			left.requireWhole(t, store.Options{}, 1, 1)
			write(t, s, counted(2, 10)...)
			if name == "fill" {
				left = d.kill(t)
				left.damageMeta(t, youngerMeta(t, left), 40)
				require.Equal(t, "v", string(get(t, left.open(t, store.Options{}), 3, "k")), "blocks rely on it")
			}
			require.NoError(t, s.Close())
			d.requireWhole(t, store.Options{}, 2, 2)
		})
	}
}
