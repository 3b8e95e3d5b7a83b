package hnsw

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRanksAreInOrder(t *testing.T) {
	inf := float32(math.Inf(1))
	distances := []float32{-inf, -math.MaxFloat32, -1.5, -1, -1e-40, 0, 1e-40, 0.5, 1, math.MaxFloat32, inf}
	for i, d := range distances {
		require.Equal(t, d, distanceOf(rankOf(d)))
		require.True(t, i == 0 || rankOf(distances[i-1]) < rankOf(d))
	}
	x := nearAt(rankOf(-3), maxNodes-1) | expanded | passing
	require.Equal(t, []uint32{rankOf(-3), maxNodes - 1}, []uint32{x.rank(), x.node()})
	require.Equal(t, nearAt(rankOf(-3), maxNodes-1), x.plain())
}

func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var h heap
	var model []near
	for range 5000 {
		x := near(rng.Uint64N(100))
		switch {
		case len(h) > 0 && rng.IntN(3) == 0:
			require.Equal(t, model[0], h.pop())
			model = model[1:]
		case len(h) > 0 && rng.IntN(3) == 0:
			h.replace(x)
			model = append(model[1:], x)
		default:
			h.push(x)
			model = append(model, x)
		}
		slices.Sort(model)
		require.Len(t, h, len(model))
		require.True(t, len(h) == 0 || h[0] == model[0])
	}
}

// A beam holds what sorting everything would leave: the nearest results up to
// its width, and what passes between them.
func TestBeam(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for width := 1; width < 12; width++ {
		var b beam
		b.reset(width)
		var all []near
		open := map[uint32]bool{}
		for node := range uint32(300) {
			x := nearAt(rng.Uint32N(1000), node)
			if rng.IntN(3) == 0 {
				x |= passing
			}
			if b.wants(x.rank()) {
				b.add(x)
				open[node] = true
			}
			all = append(all, x)
			slices.Sort(all)
			require.Equal(t, expected(all, width), plain(b.items))
			first, second := b.waiting()
			require.Equal(t, unexpanded(b.items), [2]uint32{first, second})
			if rng.IntN(4) == 0 {
				if n, ok := b.expand(); ok {
					require.True(t, open[n])
					open[n] = false
				}
			}
		}
		for _, x := range b.items {
			require.Equal(t, x&expanded == 0, open[x.node()])
		}
	}
}

// expected returns what is left of all, which are sorted. Of equal ranks those
// that came first are kept, as they have lower numbers.
func expected(all []near, width int) (left []near) {
	live := 0
	for _, x := range all {
		left = append(left, x)
		if x&passing == 0 {
			if live++; live == width {
				break
			}
		}
	}
	return left
}

func plain(items []near) (left []near) {
	for _, x := range items {
		left = append(left, x&^expanded)
	}
	return left
}

// unexpanded returns the first two nodes that are not expanded, or none.
func unexpanded(items []near) [2]uint32 {
	nodes := []uint32{}
	for _, x := range items {
		if x&expanded == 0 {
			nodes = append(nodes, x.node())
		}
	}
	return [2]uint32(append(nodes, none, none))
}

func TestIDTable(t *testing.T) {
	g, err := New(Params{Dim: 1})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	model := map[uint64]uint32{}
	for range 20_000 {
		id := rng.Uint64N(3000) << (rng.UintN(2) * 40)
		n, err := g.admit(id, 0)
		if _, found := model[id]; found {
			require.ErrorIs(t, err, ErrExists)
			require.True(t, g.Delete(id))
			delete(model, id)
			continue
		}
		require.NoError(t, err)
		model[id] = n
	}
	for id := range uint64(3000) {
		for _, id := range []uint64{id, id << 40} {
			n, found := model[id]
			require.Equal(t, found, g.Contains(id))
			require.True(t, !found || g.lookup(id) == n)
		}
	}
	require.Equal(t, len(model), g.Len())
}

// Levels depend on id and seed alone, and each has about 1/M of the one below.
func TestLevels(t *testing.T) {
	g, err := New(Params{Dim: 1, M: 8, Seed: 7})
	require.NoError(t, err)
	counts := make([]int, maxLevel+1)
	for id := range uint64(100_000) {
		counts[g.levelOf(id)]++
	}
	require.InDelta(t, 100_000*7/8, counts[0], 1000)
	require.InDelta(t, 100_000*7/64, counts[1], 1000)
	other, err := New(Params{Dim: 1, M: 8, Seed: 8})
	require.NoError(t, err)
	same := 0
	for id := range uint64(1000) {
		if g.levelOf(id) == other.levelOf(id) {
			same++
		}
	}
	require.Less(t, same, 900)
}
