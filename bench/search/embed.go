package main

import (
	"hash/fnv"
	"math"
)

// embedDim is how many components an embedding has.
const embedDim = 1024

// embedder makes vectors of texts from their letters alone, so that they are the
// same everywhere: each stretch of three to five characters of a term, with marks
// for where the term begins and ends, and each term, adds to or takes from one
// component, the more the rarer it is. Texts with like words have like vectors, in
// any language.
type embedder struct {
	texts int
	seen  map[string]int // texts that have a stretch
}

func newEmbedder(texts []string) *embedder {
	e := &embedder{texts: len(texts), seen: map[string]int{}}
	for _, t := range texts {
		stretches, _ := countStretches(t)
		for _, s := range stretches {
			e.seen[s]++
		}
	}
	return e
}

// countStretches returns the stretches of a text in the order in which they come
// first, and how often each comes.
func countStretches(text string) (stretches []string, counts map[string]int) {
	counts = map[string]int{}
	add := func(s string) {
		if counts[s]++; counts[s] == 1 {
			stretches = append(stretches, s)
		}
	}
	for _, t := range terms(text, 0) {
		add("=" + t)
		word := []rune("<" + t + ">")
		for n := 3; n <= 5; n++ {
			for i := range max(len(word)-n+1, 0) {
				add(string(word[i : i+n]))
			}
		}
	}
	return stretches, counts
}

// embed returns a vector of length 1, or zeros for a text without terms.
func (e *embedder) embed(text string) []float32 {
	sums := make([]float64, embedDim)
	stretches, counts := countStretches(text)
	for _, s := range stretches {
		h := fnv.New64a()
		h.Write([]byte(s))
		at := h.Sum64()
		at ^= at >> 29 // whose upper bits are the better ones
		weight := (1 + math.Log(float64(counts[s]))) * math.Log(1+float64(e.texts)/float64(1+e.seen[s]))
		if at>>63 == 1 {
			weight = -weight
		}
		sums[at%embedDim] += weight
	}
	return unit(sums)
}

// unit returns v divided by its length, or zeros if it has none.
func unit(v []float64) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	length := math.Sqrt(max(sum, math.SmallestNonzeroFloat64))
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / length)
	}
	return out
}
