package hnsw

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

func BenchmarkGaussian(b *testing.B) {
	benchmarkGraph(b, gaussian(1, 20_000, 128), gaussian(2, 1000, 128), vector.L2)
}

func BenchmarkClustered(b *testing.B) {
	if testing.Short() {
		b.Skip("builds a large graph")
	}
	benchmarkGraph(b, clustered(storedStream, 100_000, 128), clustered(queryStream, 1000, 128), vector.Cosine)
}

func benchmarkGraph(b *testing.B, vectors, queries [][]float32, m vector.Metric) {
	g, err := New(Params{Dim: len(vectors[0]), Metric: m})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for i, v := range vectors {
		if err := g.Insert(uint64(i), v); err != nil {
			b.Fatal(err)
		}
	}
	seconds := time.Since(start).Seconds()
	truth := make([][]Hit, 200)
	for i := range truth {
		truth[i] = exact(m, vectors, queries[i], 10, nil)
	}
	for _, ef := range []int{50, 100, 200} {
		b.Run(fmt.Sprintf("ef=%d", ef), func(b *testing.B) {
			var hits []Hit
			for i := 0; b.Loop(); i++ {
				hits, _, _ = g.Search(context.Background(), Query{Vector: queries[i%len(queries)], K: 10, EF: ef}, hits)
			}
			b.StopTimer()
			b.ReportMetric(seconds, "s/build")
			b.ReportMetric(recallOf(g, queries, truth, ef), "recall")
			b.ReportMetric(float64(g.Bytes())/float64(len(vectors)*(4*len(vectors[0])+4*32)), "bytes/raw")
		})
	}
}

// recallOf returns the share of the truth that searches find.
func recallOf(g *Graph, queries [][]float32, truth [][]Hit, ef int) float64 {
	found, wanted := 0, 0
	var hits []Hit
	for i, t := range truth {
		hits, _, _ = g.Search(context.Background(), Query{Vector: queries[i], K: len(t), EF: ef}, hits)
		wanted += len(t)
		for _, w := range t {
			for _, h := range hits {
				if h.ID == w.ID {
					found++
				}
			}
		}
	}
	return float64(found) / float64(wanted)
}
