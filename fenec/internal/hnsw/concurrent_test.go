package hnsw

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Inserting from many goroutines gives as good a graph as from one.
func TestParallelBuild(t *testing.T) {
	const dim, workers = 24, 8
	count := sized(4000, 500)
	vectors, queries := gaussian(1, count, dim), gaussian(2, 50, dim)
	g, err := New(Params{Dim: dim, EFConstruction: sized(DefaultEFConstruction, 60)})
	require.NoError(t, err)
	var group sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		group.Go(func() {
			for i := w; i < count && errs[w] == nil; i += workers {
				errs[w] = g.Insert(uint64(i), vectors[i])
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	m := &model{g, vectors}
	m.requireSound(t)
	require.GreaterOrEqual(t, m.recall(t, queries, 100), 0.98)
}

// Everything goes on at once: inserts, deletes, updates, searches, repairs,
// storing. Whatever was stored is a whole graph; what is there in the end is found.
func TestConcurrent(t *testing.T) {
	for _, storage := range []Storage{Float32, Int8} {
		t.Run(fmt.Sprint("storage ", storage), func(t *testing.T) { testConcurrent(t, storage) })
	}
}

func testConcurrent(t *testing.T, storage Storage) {
	const writers, dim = 4, 8
	each := sized(400, 100)
	vectors := gaussian(1, writers*each, dim)
	for i := range vectors {
		if i%50 == 0 {
			vectors[i] = vectors[0]
		}
	}
	g, err := New(Params{Dim: dim, M: 8, EFConstruction: 40, Storage: storage})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var writing, reading sync.WaitGroup
	var fault atomic.Pointer[error]
	check := func(err error) {
		if err != nil && ctx.Err() == nil {
			fault.CompareAndSwap(nil, &err)
		}
	}
	// Each writer has ids of its own. Of these, every third is gone in the end.
	for w := range writers {
		writing.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 0))
			for i := range each {
				id := w*each + i
				check(g.Insert(uint64(id), vectors[rng.IntN(len(vectors))]))
				for _, old := range []int{i, rng.IntN(i + 1)} {
					if old := w*each + old; g.Delete(uint64(old)) {
						check(g.Insert(uint64(old), vectors[old]))
					}
				}
				if i%3 == 0 {
					g.Delete(uint64(id))
				}
			}
		})
	}
	for r := range 2 {
		reading.Go(func() {
			var hits []Hit
			for i := r; ctx.Err() == nil; i += 2 {
				q := Query{Vector: vectors[i%len(vectors)], K: 10, EF: 50}
				if i%4 == 0 {
					q.Accept = func(id uint64) (bool, error) { return id%2 == 0, nil }
				}
				var err error
				hits, _, err = g.Search(ctx, q, hits)
				check(err)
				for _, h := range hits {
					if h.ID >= uint64(len(vectors)) || q.Accept != nil && h.ID%2 == 1 {
						check(fmt.Errorf("id %d was found", h.ID))
					}
				}
			}
		})
	}
	reading.Go(func() {
		for ctx.Err() == nil {
			if g.Dead() > 200 {
				check(g.Repair(ctx))
			}
			runtime.Gosched()
		}
	})
	reading.Go(func() {
		disk := disk{}
		for ctx.Err() == nil {
			disk.write(g.Changes())
			_, err := disk.load(g.params, vectors)
			check(err)
		}
	})
	writing.Wait()
	cancel()
	reading.Wait()
	if err := fault.Load(); err != nil {
		t.Fatal(*err)
	}

	m := &model{g, make([][]float32, len(vectors))}
	for id, v := range vectors {
		if id%each%3 != 0 {
			m.vectors[id] = v
		}
		require.Equal(t, id%each%3 != 0, g.Contains(uint64(id)))
	}
	m.requireSound(t)
	m.repair(t)
	m.requireSound(t)
	hits, _ := search(t, g, Query{Vector: vectors[1], K: len(vectors)})
	require.GreaterOrEqual(t, len(hits), g.Len()*99/100)
}

// Equal vectors come and go while Repair marks what it will free. Those that were made
// meanwhile are freed with the node that they are behind, and none is stored behind
// one that is free.
func TestTwinsBesideRepair(t *testing.T) {
	const writers = 3
	each := sized(4000, 400)
	vectors := gaussian(3, 2*writers*each, 2)
	for i := 1; i < len(vectors); i += 2 {
		vectors[i] = vectors[1] // of which one is there for a moment, beside others that stay
	}
	g, err := New(Params{Dim: 2, M: 4, EFConstruction: 8})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := 2 * w * each; i < 2*(w+1)*each; i += 2 {
				if err := errors.Join(g.Insert(uint64(i), vectors[i]), g.Insert(uint64(i+1), vectors[i+1])); err != nil {
					t.Error(err)
					return
				}
				g.Delete(uint64(i + 1))
			}
		})
	}
	reading.Go(func() {
		for ctx.Err() == nil {
			if err := g.Repair(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			runtime.Gosched()
		}
	})
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	stored := disk{}
	for more := true; more; {
		select {
		case <-written:
			more = false
		default:
		}
		stored.write(g.Changes())
		_, err := stored.load(g.params, vectors)
		require.NoError(t, err)
	}
	cancel()
	reading.Wait()
}
