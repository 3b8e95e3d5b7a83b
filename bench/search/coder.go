package main

import (
	"context"
	"math/rand"

	"github.com/coder/hnsw"
)

const coderName = "coder/hnsw"

// newCoder builds an index of s by coder/hnsw, which has no parameter for how
// carefully it builds.
func newCoder(s *vectorSet) *local {
	g := hnsw.NewGraph[int32]()
	g.M = graphM
	g.Distance = hnsw.EuclideanDistance
	g.Rng = rand.New(rand.NewSource(1))
	for i := range s.len() {
		g.Add(hnsw.MakeNode(int32(i), s.at(i)))
	}
	return &local{title: coderName, set: s, with: func(ef int) (ask, error) {
		g.EfSearch = ef
		return func(_ context.Context, q []float32) ([]int32, error) {
			found := g.Search(q, page)
			ids := make([]int32, len(found))
			for i, n := range found {
				ids[i] = n.Key
			}
			return ids, nil
		}, nil
	}}
}
