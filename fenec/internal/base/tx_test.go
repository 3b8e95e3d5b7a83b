package base_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// The cursor is compared with a sorted list, at and between and beside keys.
func TestCursor(t *testing.T) {
	for _, n := range []int{0, 1, 2, 20, 3000} {
		t.Run(fmt.Sprint("keys=", n), func(t *testing.T) {
			f, _ := create(t)
			r := rand.New(rand.NewPCG(uint64(n), 0))
			set := map[string]string{}
			for len(set) < n {
				set[fmt.Sprintf("%0*d", 1+r.IntN(20), 1+r.IntN(1<<30))] = fmt.Sprint(r.Uint64())
			}
			keys := make([]string, 0, n)
			for k := range set {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			var changes []base.Change
			for _, k := range keys {
				changes = append(changes, put(4, k, set[k]))
			}
			fold(t, f, 1, changes...)

			tx := acquire(t, f)
			defer tx.Release()
			c, err := tx.Cursor(4)
			require.NoError(t, err)
			at := func(i int) string {
				if i < 0 || i >= len(keys) {
					return ""
				}
				return keys[i]
			}
			requireAt := func(i int) {
				t.Helper()
				require.Equal(t, at(i), string(c.Key))
				require.Equal(t, at(i) == "", c.Key == nil)
				require.Equal(t, set[at(i)], string(c.Value))
			}
			probes := []string{"", "0", "zzz", "\xff"}
			for range 300 {
				probes = append(probes, fmt.Sprintf("%0*d", 1+r.IntN(20), r.IntN(1<<30)))
			}
			for range min(n, 300) {
				k := keys[r.IntN(n)]
				probes = append(probes, k, k+"\x00", k[:len(k)-1])
			}
			for _, probe := range probes {
				i := sort.SearchStrings(keys, probe)
				require.NoError(t, c.SeekGE([]byte(probe)))
				requireAt(i)
				for c.Key != nil && i < len(keys) && r.IntN(3) > 0 {
					i++
					require.NoError(t, c.Next())
					requireAt(i)
				}
				i = sort.SearchStrings(keys, probe) - 1
				require.NoError(t, c.SeekLT([]byte(probe)))
				requireAt(i)
				for c.Key != nil && r.IntN(3) > 0 {
					i--
					require.NoError(t, c.Prev())
					requireAt(i)
				}
				value, err := tx.Get(4, []byte(probe))
				require.NoError(t, err)
				want, ok := set[probe]
				require.Equal(t, ok, value != nil)
				require.Equal(t, want, string(value))
			}
			require.NoError(t, c.SeekLT(nil))
			requireAt(len(keys) - 1)
			require.NoError(t, c.SeekGE(nil))
			requireAt(0)
			require.Len(t, contents(t, f, 4), n)
		})
	}
}

// A cursor may turn round where it stands.
func TestCursorTurnsRound(t *testing.T) {
	f, _ := create(t)
	fold(t, f, 1, numbered(1, 0, 999, 30)...)
	tx := acquire(t, f)
	defer tx.Release()
	c, err := tx.Cursor(1)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(3, 4))
	require.NoError(t, c.SeekGE([]byte(fmt.Sprintf("%08d", 500))))
	for at := 500; at > 1 && at < 998; {
		if r.IntN(2) == 0 {
			at++
			require.NoError(t, c.Next())
		} else {
			at--
			require.NoError(t, c.Prev())
		}
		require.Equal(t, fmt.Sprintf("%08d", at), string(c.Key))
		if r.IntN(500) == 0 {
			break
		}
	}
}

func TestReadersShareATransaction(t *testing.T) {
	f, _ := create(t)
	fold(t, f, 1, put(1, "k", "one"))
	a, b := acquire(t, f), acquire(t, f)
	require.Same(t, a, b)
	a.Release()
	value, err := b.Get(1, []byte("k"))
	require.NoError(t, err)
	require.Equal(t, "one", string(value))

	fold(t, f, 2, put(1, "k", "two"))
	c := acquire(t, f)
	require.NotSame(t, b, c, "a fold is for those who come after it")
	require.EqualValues(t, 2, c.Folded())
	value, err = c.Get(1, []byte("k"))
	require.NoError(t, err)
	require.Equal(t, "two", string(value))
	value, err = b.Get(1, []byte("k"))
	require.NoError(t, err)
	require.Equal(t, "one", string(value), "b sees what it saw")
	require.EqualValues(t, 1, b.Folded())
	b.Release()
	c.Release()
}

// Readers of one transaction look at buckets nobody has looked at before.
func TestReadersBesideFolds(t *testing.T) {
	f, _ := create(t)
	const spaces = 20
	foldRound := func(round int) {
		var changes []base.Change
		for space := range uint32(spaces) {
			changes = append(changes, numbered(space, 0, 40, 10+round%13)...)
		}
		fold(t, f, uint64(round), changes...)
	}
	foldRound(1)
	done := make(chan struct{})
	errs := make(chan error, 4)
	var readers sync.WaitGroup
	for i := range cap(errs) {
		readers.Go(func() { errs <- readUntil(done, f, spaces, rand.New(rand.NewPCG(5, uint64(i)))) })
	}
	for round := 2; round < 60; round++ {
		foldRound(round)
	}
	close(done)
	readers.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	verify(t, f)
}

// readUntil checks that every transaction sees all spaces as of one fold.
func readUntil(done <-chan struct{}, f *base.File, spaces uint32, r *rand.Rand) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		tx, err := f.Acquire()
		if err != nil {
			return err
		}
		err = readRound(tx, spaces, r)
		tx.Release()
		if err != nil {
			return err
		}
	}
}

func readRound(tx *base.Tx, spaces uint32, r *rand.Rand) error {
	want := 10 + int(tx.Folded())%13
	for range 10 {
		space := r.Uint32N(spaces)
		value, err := tx.Get(space, []byte(fmt.Sprintf("%08d", r.IntN(41))))
		if err != nil {
			return err
		}
		if len(value) != want {
			return fmt.Errorf("space %d: a value of %d bytes in the fold to %d", space, len(value), tx.Folded())
		}
	}
	c, err := tx.Cursor(r.Uint32N(spaces))
	if err != nil {
		return err
	}
	n := 0
	for err = c.SeekGE(nil); err == nil && c.Key != nil; err = c.Next() {
		n++
	}
	if err == nil && n != 41 {
		err = fmt.Errorf("%d keys instead of 41", n)
	}
	return err
}

// The map must grow in the middle of a fold while readers come and go, also
// when one of them was there during the fold and none comes after it.
func TestMapGrows(t *testing.T) {
	base.SetMapAhead(t, 64<<10)
	for _, readers := range []int{0, 1, 3} {
		t.Run(fmt.Sprint("readers=", readers), func(t *testing.T) {
			f, _ := create(t)
			fold(t, f, 1, numbered(0, 0, 40, 11)...)
			done := make(chan struct{})
			errs := make(chan error, readers)
			var wg sync.WaitGroup
			for i := range readers {
				wg.Go(func() { errs <- readUntil(done, f, 1, rand.New(rand.NewPCG(6, uint64(i)))) })
			}
			changes := numbered(1, 1, 20000, 200)
			next := yield(changes...)
			n := 0
			require.NoError(t, f.Fold(14, func() (base.Change, bool) {
				if n++; n%5000 == 0 {
					// A reader that comes and goes while the fold runs.
					tx, err := f.Acquire()
					if err != nil {
						panic(err)
					}
					tx.Release()
				}
				return next()
			}))
			close(done)
			wg.Wait()
			for range readers {
				require.NoError(t, <-errs)
			}
			require.Len(t, contents(t, f, 1), 20000)
			verify(t, f)
		})
	}
}
