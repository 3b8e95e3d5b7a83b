package base_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// spread folds n keys of different lengths into space 1 and returns them in
// order.
func spread(t *testing.T, f *base.File, n int, r *rand.Rand) []string {
	t.Helper()
	set := map[string]bool{}
	for len(set) < n {
		set[fmt.Sprintf("%0*d", 1+r.IntN(20), 1+r.IntN(1<<30))] = true
	}
	keys := make([]string, 0, n)
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	changes := make([]base.Change, n)
	for i, k := range keys {
		changes[i] = put(1, k, k)
	}
	fold(t, f, 1, changes...)
	return keys
}

// probe is a key of the list, one beside it, or any other.
func probe(keys []string, r *rand.Rand) string {
	if len(keys) == 0 || r.IntN(4) == 0 {
		return fmt.Sprintf("%0*d", 1+r.IntN(20), r.IntN(1<<30))
	}
	k := keys[r.IntN(len(keys))]
	return []string{k, k + "\x00", k[:len(k)-1]}[r.IntN(3)]
}

// bound returns a probe's key and its place in the list; now and then there is
// none, and the place is the one given.
func bound(keys []string, r *rand.Rand, without int) (key []byte, at int) {
	if r.IntN(5) == 0 {
		return nil, without
	}
	k := probe(keys, r)
	return []byte(k), sort.SearchStrings(keys, k)
}

func TestCount(t *testing.T) {
	for _, n := range []int{0, 1, 20, 3000, 30_000} {
		t.Run(fmt.Sprint("keys=", n), func(t *testing.T) {
			f, _ := create(t)
			r := rand.New(rand.NewPCG(uint64(n), 1))
			keys := spread(t, f, n, r)
			tx := acquire(t, f)
			defer tx.Release()
			for range 2000 {
				lower, from := bound(keys, r, 0)
				upper, to := bound(keys, r, n)
				got, err := tx.Count(1, lower, upper)
				require.NoError(t, err)
				require.EqualValues(t, max(to-from, 0), got, "%q to %q", lower, upper)
			}
			got, err := tx.Count(2, nil, nil)
			require.NoError(t, err)
			require.Zero(t, got, "a space that is not there")
		})
	}
}

// Runs go as far as the bound, or the end of the page, and seeks find from there
// what they find from anywhere.
func TestRun(t *testing.T) {
	for _, n := range []int{1, 20, 3000, 30_000} {
		t.Run(fmt.Sprint("keys=", n), func(t *testing.T) {
			f, _ := create(t)
			r := rand.New(rand.NewPCG(uint64(n), 2))
			keys := spread(t, f, n, r)
			tx := acquire(t, f)
			defer tx.Release()
			c, err := tx.Cursor(1)
			require.NoError(t, err)
			longest := 0
			for range 5000 {
				key, at := bound(keys, r, n)
				if back := r.IntN(2) == 0; back {
					at--
					require.NoError(t, c.SeekLT(key))
				} else if key == nil {
					continue
				} else {
					require.NoError(t, c.SeekGE(key))
				}
				if at < 0 || at == n {
					require.Nil(t, c.Key)
					continue
				}
				require.Equal(t, keys[at], string(c.Key))
				for range 4 {
					at = requireRun(t, c, keys, at, r, &longest)
					if at++; at == n {
						break
					}
					if !c.Hop(false) {
						require.NoError(t, c.Next())
					}
					require.Equal(t, keys[at], string(c.Key))
					require.False(t, c.Step())
				}
			}
			require.GreaterOrEqual(t, longest, min(n-1, 20))
		})
	}
}

// requireRun goes on with c, which is at the key of that place, and returns the
// place where it ends.
func requireRun(t *testing.T, c *base.Cursor, keys []string, at int, r *rand.Rand, longest *int) int {
	t.Helper()
	back := r.IntN(2) == 0
	step, run, by, without := c.Step, c.Run, 1, len(keys)
	if back {
		step, run, by, without = c.StepBack, c.RunBack, -1, 0
	}
	key, end := bound(keys, r, without)
	if r.IntN(2) == 0 {
		end = min(max(at+by*r.IntN(60), 0), len(keys)-1)
		key = []byte(keys[end])
	}
	if r.IntN(2) == 0 {
		limit, beyond := bound(keys, r, len(keys)-without)
		if back {
			c.Limit(key, limit)
		} else {
			c.Limit(limit, key)
		}
		key = nil
		if inside := !back && at >= beyond || back && at < beyond; !inside {
			c.Limit(nil, nil) // it is for cursors within their limits
			end = without
		}
	} else if key == nil {
		c.Limit(nil, nil)
	}
	most := run(key)
	*longest = max(*longest, most)
	if back {
		require.LessOrEqual(t, most, max(at-end, 0))
	} else {
		require.LessOrEqual(t, most, max(end-1-at, 0))
	}
	for range most {
		require.True(t, step())
		at += by
		require.Equal(t, keys[at], string(c.Key))
		require.Equal(t, keys[at], string(c.Value))
	}
	require.False(t, step())
	require.Equal(t, keys[at], string(c.Key), "it stays")
	return at
}
