package exec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// family is a row as TestChildren and TestNearIDs know it.
type family struct {
	id, key, n int64
	expired    bool
}

// TestChildren looks the children of many parents up at once and compares them
// with those found by looking at all rows. Parents share children, point to
// none, to null and to what is no id.
func TestChildren(t *testing.T) {
	db := openTest(t, `create collection p (k int, low int)`, `create collection c (k int @hash, n int, at timestamp @ttl(1h))`,
		`create collection d (k int @hash, n int)`)
	rng := rand.New(rand.NewPCG(8, 9))
	var children []family
	for id := int64(1); id <= 600; id++ {
		f := family{id, rng.Int64N(40) - 3, rng.Int64N(4), rng.IntN(9) == 0}
		if rng.IntN(3) > 0 && id > 1 {
			f.key = children[len(children)-1].key // brothers stand together
		}
		at := int64(t0)
		if f.expired {
			at = 0
		}
		db.must(fmt.Sprintf(`put c {id: %d, k: %d, n: %d, at: %d}`, id, f.key, f.n, at))
		if rng.IntN(8) == 0 {
			db.must(fmt.Sprintf(`del c where id = %d or expired() and id = %d`, id, id))
			f.expired = true
		}
		if !f.expired {
			db.must(`put d {id: $1, k: $2, n: $3}`, id, f.key, f.n)
		}
		children = append(children, f)
	}
	keys := make([]int64, 60)
	for i := range keys {
		keys[i] = rng.Int64N(46) - 4
		db.must(`put p {k: $1}`, keys[i])
	}
	db.must(`put p {k: null}`)
	keys = append(keys, -1000)

	for _, c := range []struct {
		clauses    string
		passes     func(f family) bool
		skip, most int
	}{
		{"", func(family) bool { return true }, 0, 1000},
		{" where n > 1", func(f family) bool { return f.n > 1 }, 0, 1000},
		{" where k in [3, 4, 5]", func(f family) bool { return f.key >= 3 && f.key <= 5 }, 0, 1000},
		{" limit 2", func(family) bool { return true }, 0, 2},
		{" offset 1 limit 3", func(family) bool { return true }, 1, 3},
		{" limit 0", func(family) bool { return true }, 0, 0},
		{" where n < 3 limit 2", func(f family) bool { return f.n < 3 }, 0, 2},
	} {
		byKey, byID := func(f family) int64 { return f.key }, func(f family) int64 { return f.id }
		for from, key := range map[string]func(family) int64{"c on k": byKey, "c on id": byID, "d on k": byKey, "d on id": byID} {
			text := `get k from p lookup ` + from + ` = k` + c.clauses
			res := db.must(text).res
			_, nested := res.Nested()
			require.Equal(t, len(keys), res.Len())
			for i, k := range keys {
				want := []uint64{}
				for _, f := range children {
					if key(f) == k && !f.expired && c.passes(f) {
						want = append(want, uint64(f.id))
					}
				}
				want = want[min(c.skip, len(want)):]
				want = want[:min(c.most, len(want))]
				got := []uint64{}
				first, end := res.Children(i)
				for ; first < end; first++ {
					got = append(got, nested.ID(first))
				}
				require.Equal(t, want, got, "%s: k = %d", text, k)
			}
		}
	}
}

// TestNearIDs reads rows whose ids are near each other, some of which are no more
// and some of which belong to others.
func TestNearIDs(t *testing.T) {
	db := openTest(t, `create collection c (k int @hash, n int)`)
	rng := rand.New(rand.NewPCG(10, 11))
	var rows []family
	for id := int64(1); id <= 400; id += 1 + rng.Int64N(3)*rng.Int64N(3) {
		f := family{id: id, key: rng.Int64N(1 + id/100), n: rng.Int64N(10)}
		db.must(fmt.Sprintf(`put c {id: %d, k: %d, n: %d}`, id, f.key, f.n))
		rows = append(rows, f)
	}
	db.must(`del c where n = 0`)
	for k := range int64(5) {
		want := []uint64{}
		for _, f := range rows {
			if f.key == k && f.n > 1 {
				want = append(want, uint64(f.id))
			}
		}
		require.Equal(t, want, db.must(`get c where k = $1 and n != 1`, k).ids(), "k = %d", k)
		slices.Reverse(want)
		require.Equal(t, want, db.must(`get c where k = $1 and n > 1 order id desc`, k).ids(), "k = %d", k)
		few := want[max(len(want)-12, 0):]
		slices.Reverse(few)
		require.Equal(t, few, db.must(`get c where k in [$1, -7] and n > 1 limit 12`, k).ids(), "k = %d", k)
	}
}
