package base_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

func TestFold(t *testing.T) {
	f, path := create(t)
	fold(t, f, 3, put(1, "a", "1"), put(1, "b", "2"), put(2, "a", "3"))
	require.EqualValues(t, 3, f.Folded())
	fold(t, f, 9, put(1, "a", "4"), del(1, "b"), del(1, "none"), put(1, "c", ""), put(7, "z", "9"))
	for range 2 {
		require.Equal(t, []string{"a=4", "c="}, contents(t, f, 1))
		require.Equal(t, []string{"a=3"}, contents(t, f, 2))
		require.Equal(t, []string{"z=9"}, contents(t, f, 7))
		require.Empty(t, contents(t, f, 8))
		tx := acquire(t, f)
		spaces, err := tx.Spaces()
		require.NoError(t, err)
		require.Equal(t, []uint32{1, 2, 7}, spaces)
		require.EqualValues(t, 9, tx.Folded())
		value, err := tx.Get(1, []byte("c"))
		require.NoError(t, err)
		require.NotNil(t, value, "an empty value is not a missing one")
		value, err = tx.Get(1, []byte("b"))
		require.NoError(t, err)
		require.Nil(t, value)
		tx.Release()
		verify(t, f)
		require.NoError(t, f.Close())
		f = open(t, path)
	}
}

func TestFoldDropsSpaces(t *testing.T) {
	f, _ := create(t)
	fold(t, f, 1, slices.Concat(numbered(1, 1, 3000, 100), numbered(2, 1, 10, 10))...)
	fold(t, f, 2, drop(1), drop(5), put(2, "x", "y"))
	require.Empty(t, contents(t, f, 1))
	require.Len(t, contents(t, f, 2), 11)
	tx := acquire(t, f)
	defer tx.Release()
	spaces, err := tx.Spaces()
	require.NoError(t, err)
	require.Equal(t, []uint32{2}, spaces)
	require.Greater(t, f.FreeBytes(), int64(100<<10), "its pages are free")
	require.NoError(t, tx.Verify())
}

// A space that is dropped while it is being written is dropped all the same.
func TestFoldDropsTheSpaceAtHand(t *testing.T) {
	f, _ := create(t)
	fold(t, f, 1, put(1, "a", "1"), drop(1), put(1, "b", "2"))
	require.Equal(t, []string{"b=2"}, contents(t, f, 1))
}

func TestFoldGoesOnlyForward(t *testing.T) {
	f, _ := create(t)
	fold(t, f, 5, put(1, "a", "1"))
	require.ErrorContains(t, f.Fold(4, yield(put(1, "a", "2"))), "folded to 5 before")
	require.Equal(t, []string{"a=1"}, contents(t, f, 1))
	fold(t, f, 5, put(1, "a", "3"))
	require.Equal(t, []string{"a=3"}, contents(t, f, 1))
}

// A fold that fails or panics on the way leaves no trace, and the file goes on.
func TestFoldIsAtomic(t *testing.T) {
	tooLong := strings.Repeat("k", 40<<10)
	for name, last := range map[string]func() (base.Change, bool){
		"an empty key":  yield(put(3, "", "v")),
		"a long key":    yield(put(3, tooLong, "v")),
		"a panic":       func() (base.Change, bool) { panic("the source broke") },
		"a nil pointer": func() (base.Change, bool) { var c *base.Change; return *c, true },
	} {
		t.Run(name, func(t *testing.T) {
			f, path := create(t)
			fold(t, f, 1, put(1, "a", "1"), put(2, "b", "2"))
			first := yield(slices.Concat(
				[]base.Change{drop(2), put(1, "a", "changed"), put(1, "b", "new")}, numbered(3, 1, 5000, 100))...)
			err := f.Fold(2, func() (base.Change, bool) {
				if c, ok := first(); ok {
					return c, true
				}
				return last()
			})
			require.Error(t, err)
			for range 2 {
				require.EqualValues(t, 1, f.Folded())
				require.Equal(t, []string{"a=1"}, contents(t, f, 1))
				require.Equal(t, []string{"b=2"}, contents(t, f, 2))
				require.Empty(t, contents(t, f, 3))
				verify(t, f)
				require.NoError(t, f.Close())
				f = open(t, path)
			}
			fold(t, f, 2, put(1, "a", "after"))
			require.Equal(t, []string{"a=after"}, contents(t, f, 1))
		})
	}
}

// However a fold is cut short on disk, the file is as before it or as after.
func TestFoldThatDidNotReachTheDisk(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, numbered(1, 1, 500, 100)...)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	old := contents(t, f, 1)
	fold(t, f, 2, numbered(1, 400, 900, 77)...)
	now := contents(t, f, 1)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	// Pages may reach the disk in any order, but the meta pages come last.
	before = append(before, make([]byte, len(after)-len(before))...)
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 40 {
		file := slices.Clone(before)
		for off := 2 * 4096; off < len(file); off += 4096 {
			if trial == 0 || r.IntN(2) == 0 {
				copy(file[off:off+4096], after[off:])
			}
		}
		if trial == 0 {
			copy(file[:2*4096], after)
		}
		require.NoError(t, os.WriteFile(path, file, 0o600))
		f, err := base.Open(path)
		require.NoError(t, err, "trial %d", trial)
		if trial == 0 {
			require.EqualValues(t, 2, f.Folded())
			require.Equal(t, now, contents(t, f, 1))
		} else {
			require.EqualValues(t, 1, f.Folded())
			require.Equal(t, old, contents(t, f, 1))
		}
		verify(t, f)
		require.NoError(t, f.Close())
	}
}

func TestSmallFilesStaySmall(t *testing.T) {
	f, path := create(t)
	require.LessOrEqual(t, f.Size(), int64(64<<10))
	for i := range 20 {
		fold(t, f, uint64(i+1), numbered(1, i*10, i*10+9, 100)...)
	}
	require.LessOrEqual(t, f.Size(), int64(256<<10), "20 KiB of rows")
	require.NoError(t, f.Close())
	adopt(t, path)
	f = open(t, path)
	require.LessOrEqual(t, f.Size(), int64(256<<10))
	require.NoError(t, f.Compact())
	require.LessOrEqual(t, f.Size(), int64(128<<10))
	fold(t, f, 100, numbered(2, 1, 100, 100)...)
	require.LessOrEqual(t, f.Size(), int64(512<<10))
}

// Folding over the same keys again and again uses the same pages again.
func TestOverwritingDoesNotGrowTheFile(t *testing.T) {
	f, _ := create(t)
	size := int64(0)
	for i := range 60 {
		fold(t, f, uint64(i+1), numbered(1, 1, 1000, 100+i%7)...)
		if i == 20 {
			size = f.Size()
		}
	}
	require.LessOrEqual(t, f.Size(), 2*size)
}

func TestManySpaces(t *testing.T) {
	f, path := create(t)
	var changes []base.Change
	for space := uint32(1); space <= 300; space++ {
		changes = append(changes, numbered(space, 1, int(space%40), 20)...)
	}
	fold(t, f, 1, changes...)
	require.NoError(t, f.Close())
	f = open(t, path)
	for space := uint32(1); space <= 300; space++ {
		require.Len(t, contents(t, f, space), int(space%40), fmt.Sprint(space))
	}
	verify(t, f)
}
