package base_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// What is folded while a compaction goes on is in the compacted file.
func TestCompactionBesideFolds(t *testing.T) {
	for name, catchUps := range map[string]int{"all at the end": 0, "followed": 3} {
		t.Run(name, func(t *testing.T) {
			f, path := create(t)
			fold(t, f, 1, numbered(1, 1, 5000, 100)...)
			fold(t, f, 2, numbered(2, 1, 5000, 100)...)
			c, err := f.BeginCompaction()
			require.NoError(t, err)
			fold(t, f, 3, append(numbered(1, 3000, 7000, 50), put(4, "new", "space"))...)
			require.NoError(t, c.Copy(context.Background()))
			fold(t, f, 4, drop(2))
			fold(t, f, 5, put(2, "again", "there"), del(4, "new"), put(4, "newer", ""))
			for range catchUps {
				_, err := c.CatchUp()
				require.NoError(t, err)
			}
			fold(t, f, 6, put(5, "k", "v"))
			require.Equal(t, []string{"again=there"}, contents(t, f, 2), "the old file is in use")
			want := contents(t, f, 1)
			require.NoError(t, c.Install())
			for range 2 {
				require.EqualValues(t, 6, f.Folded())
				require.Equal(t, want, contents(t, f, 1))
				require.Equal(t, []string{"again=there"}, contents(t, f, 2))
				require.Equal(t, []string{"newer="}, contents(t, f, 4))
				require.Equal(t, []string{"k=v"}, contents(t, f, 5))
				verify(t, f)
				require.NoError(t, f.Close())
				requireAlone(t, path)
				f = open(t, path)
			}
		})
	}
}

func TestCompactionCancelled(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, numbered(1, 1, 200_000, 100)...)
	c, err := f.BeginCompaction()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, c.Copy(ctx), context.Canceled)
	fold(t, f, 2, put(2, "k", "v"))
	c.Cancel()
	requireAlone(t, path)
	fold(t, f, 3, put(2, "k", "w"))
	require.NoError(t, f.Close())
	require.Equal(t, []string{"k=w"}, contents(t, open(t, path), 2))
}

// TestCompactionModel compares random folds around a compaction with the same
// folds without one.
func TestCompactionModel(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f, _ := create(t)
		plain, _ := create(t)
		seq := uint64(0)
		folds := func(n int) {
			for range n {
				seq++
				var changes []base.Change
				for space := uint32(1); space < 4; space++ {
					if rng.IntN(8) == 0 {
						changes = append(changes, drop(space))
					}
					from := rng.IntN(300)
					changes = append(changes, numbered(space, from, from+rng.IntN(200), 1+rng.IntN(90))...)
				}
				fold(t, f, seq, changes...)
				fold(t, plain, seq, changes...)
			}
		}
		folds(1 + rng.IntN(4))
		c, err := f.BeginCompaction()
		require.NoError(t, err)
		folds(rng.IntN(4))
		require.NoError(t, c.Copy(context.Background()))
		for range rng.IntN(3) {
			folds(rng.IntN(3))
			_, err := c.CatchUp()
			require.NoError(t, err)
		}
		require.NoError(t, c.Install())
		folds(rng.IntN(3))
		for space := uint32(1); space < 4; space++ {
			require.Equal(t, contents(t, plain, space), contents(t, f, space), "seed %d", seed)
		}
		require.Equal(t, plain.Folded(), f.Folded())
		verify(t, f)
	}
}

// A side file that cannot be made ends the compaction before it has begun.
func TestCompactionWithoutRoom(t *testing.T) {
	f, path := create(t)
	require.NoError(t, os.Mkdir(path+base.CompactingSuffix, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path+base.CompactingSuffix, "x"), nil, 0o600))
	_, err := f.BeginCompaction()
	require.Error(t, err)
	fold(t, f, 1, put(1, "k", "v"))
	require.NoError(t, os.RemoveAll(path+base.CompactingSuffix))
	require.NoError(t, f.Compact())
	require.Equal(t, []string{"k=v"}, contents(t, f, 1))
}
