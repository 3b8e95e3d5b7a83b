package posting

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// scale returns n, or more of it for a long run.
func scale(n int) int {
	if os.Getenv("FENEC_LONG") == "1" {
		return 20 * n
	}
	return n
}

// ids draws ids of one of several shapes.
type ids struct {
	r     *rand.Rand
	shape int
	next  uint64
}

func (g *ids) draw() uint64 {
	switch g.shape {
	case 0: // appended, dense
		g.next += 1 + uint64(g.r.IntN(3))
		return g.next
	case 1: // anywhere in a small range
		return uint64(g.r.IntN(3000))
	case 2: // anywhere in a large one
		return uint64(g.r.IntN(1 << 40))
	case 3: // of any size
		return g.r.Uint64() >> (1 + g.r.IntN(63))
	case 4: // the ends of what there is
		return []uint64{0, MaxID}[g.r.IntN(2)] ^ uint64(g.r.IntN(500))
	default: // runs
		if g.r.IntN(20) == 0 {
			g.next = g.r.Uint64() >> 1
		}
		g.next = (g.next + uint64(g.r.IntN(4))) & MaxID
		return g.next
	}
}

const shapes = 6

func randomPosting(r *rand.Rand, kind Kind, id uint64) Posting {
	if kind == Weights {
		w := float32(r.NormFloat64())
		if r.IntN(50) == 0 {
			w = []float32{math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1e20}[r.IntN(4)]
		}
		return Posting{ID: id, Weight: w}
	}
	p := Posting{ID: id, TF: 1 + uint32(r.ExpFloat64()), Length: 1 + uint32(r.IntN(1<<r.IntN(9)))}
	if r.IntN(200) == 0 {
		p.TF, p.Length = []uint32{1, math.MaxUint32}[r.IntN(2)], []uint32{1, 70000, math.MaxUint32}[r.IntN(3)]
	}
	return p
}

// randomChanges returns changes by ascending id, gone ones by chance.
func randomChanges(r *rand.Rand, kind Kind, g *ids, has model, n int, gone float64) []Posting {
	var changes []Posting
	for range n {
		p := randomPosting(r, kind, g.draw())
		if len(has) > 0 && (r.Float64() < gone || r.IntN(10) == 0) {
			p.ID = has[r.IntN(len(has))].ID
		}
		if r.Float64() < gone {
			p = Posting{ID: p.ID, Gone: true}
		}
		changes = append(changes, p)
	}
	slices.SortFunc(changes, func(a, b Posting) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(changes, func(a, b Posting) bool { return a.ID == b.ID })
}

// TestMerge merges random changes and reads everything back after each.
func TestMerge(t *testing.T) {
	r := newRand(1)
	var splits, deletes, empties int
	for round := range scale(120) {
		kind := Kind(round % 2)
		g := &ids{r: r, shape: r.IntN(shapes)}
		other := []Posting{randomPosting(r, kind, 7)}
		m := store(t, kind, map[string][]Posting{"a": other, "c": other})
		var has model
		most := 1 << r.IntN(12)
		for range 40 {
			changes := randomChanges(r, kind, g, has, 1+r.IntN(most), []float64{0, 0.1, 0.5, 1}[r.IntN(4)])
			out, err := Merge(kind, &cursor{m: m}, []byte("b"), changes)
			require.NoError(t, err)
			has.apply(changes)
			m.apply(t, out)
			requireChunks(t, kind, m, "b", has)
			requireChunks(t, kind, m, "a", other)
			requireChunks(t, kind, m, "c", other)

			splits += len(m)
			if len(has) == 0 {
				empties++
			}
			for _, c := range out {
				if c.Value == nil {
					deletes++
				}
			}
		}
	}
	require.Greater(t, splits, 1000)
	require.Greater(t, deletes, 100)
	require.Greater(t, empties, 10)
}

// TestMergeTouchesLittle checks that chunks far from a change stay as they are,
// and that chunks thinned out are joined.
func TestMergeTouchesLittle(t *testing.T) {
	var all []Posting
	for id := range uint64(100_000) {
		all = append(all, Posting{ID: id, TF: 1, Length: 50})
	}
	m := store(t, Text, map[string][]Posting{"b": all})
	require.Greater(t, len(m), 50)

	out, err := Merge(Text, &cursor{m: m}, []byte("b"), []Posting{{ID: 50_000, TF: 2, Length: 50}})
	require.NoError(t, err)
	require.Len(t, out, 2, "the head for its bound, and one chunk")
	m.apply(t, out)
	out, err = Merge(Text, &cursor{m: m}, []byte("b"), []Posting{{ID: 50_000, TF: 2, Length: 50}})
	require.NoError(t, err)
	require.Empty(t, out)

	chunks := len(m)
	var gone []Posting
	for id := range uint64(100_000) {
		if id%20 != 0 {
			gone = append(gone, Posting{ID: id, Gone: true})
		}
	}
	out, err = Merge(Text, &cursor{m: m}, []byte("b"), gone)
	require.NoError(t, err)
	m.apply(t, out)
	require.Less(t, len(m), chunks/4)
}

// TestBuildFills checks that chunks are full, and that appending leaves full ones
// behind.
func TestBuildFills(t *testing.T) {
	r := newRand(2)
	var all []Posting
	id := uint64(0)
	for range 20_000 {
		id += 1 + uint64(r.IntN(20))
		all = append(all, Posting{ID: id, TF: 1 + uint32(r.IntN(3)), Length: 30 + uint32(r.IntN(40))})
	}
	built := store(t, Text, map[string][]Posting{"b": all})
	requireChunks(t, Text, built, "b", all)
	for _, c := range built[:len(built)-1] {
		require.Greater(t, len(c.Value), maxChunkBytes*3/4)
	}

	var merged memory
	for part := range slices.Chunk(all, 37) {
		out, err := Merge(Text, &cursor{m: merged}, []byte("b"), part)
		require.NoError(t, err)
		merged.apply(t, out)
	}
	requireChunks(t, Text, merged, "b", all)
	require.LessOrEqual(t, len(merged), len(built)*11/10)
}
