package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"
)

// near is a vector and its distance from a question.
type near struct {
	id       int32 // from 0
	distance float32
}

// nearest returns the k nearest of the vectors that accept takes, by a scan of
// all, the nearest first.
func (s *vectorSet) nearest(q []float32, k int, accept func(id int32) bool) []near {
	out := make([]near, 0, k+1)
	for i := range s.len() {
		id := int32(i)
		if accept != nil && !accept(id) {
			continue
		}
		d := vek32.Distance(q, s.at(i))
		if len(out) == k && d >= out[k-1].distance {
			continue
		}
		at, _ := slices.BinarySearchFunc(out, d, func(n near, d float32) int {
			if n.distance <= d {
				return -1
			}
			return 1
		})
		out = slices.Insert(out, at, near{id, d})
		out = out[:min(len(out), k)]
	}
	return out
}

// findReach finds what is right to answer to every question.
func (s *vectorSet) findReach() { s.reach = s.reaches(s.asked, nil) }

// reaches returns, for each question, the distance within which the nearest page
// of the vectors lies that accept takes.
func (s *vectorSet) reaches(asked [][]float32, accept func(question int, id int32) bool) []float32 {
	out := make([]float32, len(asked))
	var wg sync.WaitGroup
	workers := runtime.NumCPU()
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(asked); i += workers {
				var of func(int32) bool
				if accept != nil {
					of = func(id int32) bool { return accept(i, id) }
				}
				if found := s.nearest(asked[i], page, of); len(found) > 0 {
					out[i] = found[len(found)-1].distance
				}
			}
		})
	}
	wg.Wait()
	return out
}

// slack is by how much more than its reach, in proportion, a distance may be that
// still counts: kernels add up in different orders.
const slack = 1e-5

// recall returns which share of the pages of the answers is right: of vectors
// within reach. An id that does not exist, or is answered twice, is an error.
func (s *vectorSet) recall(answers [][]int32) (float64, error) {
	if len(answers) != len(s.asked) {
		return 0, fmt.Errorf("%d answers to %d questions", len(answers), len(s.asked))
	}
	hits := 0
	for i, ids := range answers {
		n, err := s.hits(s.asked[i], s.reach[i], ids)
		if err != nil {
			return 0, fmt.Errorf("question %d: %w", i, err)
		}
		hits += n
	}
	return float64(hits) / float64(len(answers)*min(page, s.len())), nil
}

// hits returns how many of the ids lie within reach of q.
func (s *vectorSet) hits(q []float32, reach float32, ids []int32) (int, error) {
	n := 0
	for k, id := range ids {
		if id < 0 || int(id) >= s.len() || slices.Contains(ids[:k], id) {
			return 0, fmt.Errorf("id %d is answered, of %d vectors, in %v", id, s.len(), ids)
		}
		if vek32.Distance(q, s.at(int(id))) <= reach*(1+slack) {
			n++
		}
	}
	return n, nil
}
