package posting

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the benchmarks search: documents of words drawn by Zipf's law.
const (
	benchDocuments  = 100_000
	benchWords      = 50
	benchVocabulary = 50_000
	benchQueries    = 300
)

// bench is the same postings as chunks and as flat arrays.
type bench struct {
	flat   flat
	stored memory
	scorer Scorer
	zipf   []float64 // cumulated

	size, postings int // bytes of values, and what they hold
}

var theBench = sync.OnceValue(func() *bench { return newBench(newRand(8), benchDocuments) })

func newBench(r *rand.Rand, documents int) *bench {
	b := &bench{scorer: Scorer{K1: 1.2, B: 0.75, Documents: uint64(documents)}}
	sum := 0.0
	for i := range benchVocabulary {
		sum += 1 / float64(i+1)
		b.zipf = append(b.zipf, sum)
	}
	postings := make([][]Posting, benchVocabulary)
	total := 0
	for id := range documents {
		// Lengths differ, or norms would be all the same.
		length := benchWords/2 + r.IntN(benchWords+1)
		total += length
		counts := map[int]uint32{}
		for range length {
			counts[b.word(r)]++
		}
		for word, tf := range counts {
			postings[word] = append(postings[word], Posting{ID: uint64(id), TF: tf, Length: uint32(length)})
		}
		b.flat.norms = append(b.flat.norms, float32(length))
	}
	b.scorer.AverageLength = float64(total) / float64(documents)
	w := b.scorer.weigher(1, 1)
	for id, length := range b.flat.norms {
		b.flat.norms[id] = w.norm(length)
	}
	b.store(postings)
	return b
}

func (b *bench) word(r *rand.Rand) int {
	return sort.SearchFloat64s(b.zipf, r.Float64()*b.zipf[len(b.zipf)-1])
}

func (b *bench) store(postings [][]Posting) {
	builder := NewBuilder(Text, func(key, value []byte) error {
		b.stored = append(b.stored, Change{key, value})
		b.size += len(value)
		return nil
	})
	for term, list := range postings {
		var l flatList
		b.postings += len(list)
		for _, p := range list {
			l.ids, l.tf = append(l.ids, uint32(p.ID)), append(l.tf, float32(p.TF))
			if err := builder.Add(prefixOf(term), p); err != nil {
				panic(err)
			}
		}
		b.flat.lists = append(b.flat.lists, l)
	}
	if err := builder.Close(); err != nil {
		panic(err)
	}
}

// draw returns different words, by the law that the documents were drawn by.
func (b *bench) draw(r *rand.Rand, n int) []int {
	var words []int
	for len(words) < n {
		if w := b.word(r); len(b.flat.lists[w].ids) > 0 && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

func (b *bench) gains(words []int) []float32 {
	var gains []float32
	for _, w := range words {
		gains = append(gains, b.scorer.weigher(1, b.scorer.IDF(uint64(len(b.flat.lists[w].ids)))).gain)
	}
	return gains
}

func (b *bench) query(t testing.TB, words []int, front []Posting) *Query {
	var terms []Term
	for _, w := range words {
		l, err := NewList(Text, &cursor{m: b.stored}, prefixOf(w), front)
		require.NoError(t, err)
		terms = append(terms, Term{l, 1, b.scorer.IDF(l.DF())})
	}
	return Match(b.scorer, terms)
}

func (b *bench) top(t testing.TB, words []int, k int) []Hit {
	hits, err := b.query(t, words, nil).Top(context.Background(), k, nil)
	require.NoError(t, err)
	return hits
}

// each scores all documents, one after the other.
func (b *bench) each(t testing.TB, words []int, k int) []Hit {
	best := newTop(k, 0)
	err := b.query(t, words, nil).Each(context.Background(), func(h Hit) error {
		if h.Score > best.floor {
			best.add(h)
		}
		return nil
	})
	require.NoError(t, err)
	return best.best()
}

// BenchmarkTop compares the ways to answer a query. Besides the mean it reports
// the median and the 99th percentile over the queries.
func BenchmarkTop(b *testing.B) {
	x := theBench()
	ways := []struct {
		name string
		top  func(words []int, k int) []Hit
	}{
		{"floor", func(words []int, k int) []Hit { return x.flat.top(words, x.gains(words), k, true) }},
		{"chunks", func(words []int, k int) []Hit { return x.top(b, words, k) }},
		{"merge", func(words []int, k int) []Hit { return x.flat.top(words, x.gains(words), k, false) }},
		{"each", func(words []int, k int) []Hit { return x.each(b, words, k) }},
	}
	for _, k := range []int{10, 10_000} {
		for _, n := range []int{1, 2, 3, 5, 10} {
			r := newRand(9)
			var queries [][]int
			for range benchQueries {
				queries = append(queries, x.draw(r, n))
			}
			for _, way := range ways {
				b.Run(fmt.Sprintf("k=%d/terms=%d/%s", k, n, way.name), func(b *testing.B) {
					measure(b, queries, func(words []int) { way.top(words, k) })
					b.ReportMetric(float64(x.size)/float64(x.postings), "B/posting")
				})
			}
		}
	}
}

// measure runs all queries in each turn of the benchmark. Of a query's times it
// takes the least, which tells least of what else the machine is doing.
func measure(b *testing.B, queries [][]int, answer func(words []int)) {
	took := slices.Repeat([]time.Duration{time.Hour}, len(queries))
	for b.Loop() {
		for i, words := range queries {
			start := time.Now()
			answer(words)
			took[i] = min(took[i], time.Since(start))
		}
	}
	slices.Sort(took)
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(sum.Seconds()*1e6/float64(len(took)), "mean-µs")
	b.ReportMetric(took[len(took)/2].Seconds()*1e6, "p50-µs")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e6, "p99-µs")
}

// TestBench checks that what the benchmarks compare gives the same answers.
func TestBench(t *testing.T) {
	x := newBench(newRand(8), 5000)
	r := newRand(10)
	for i := range 60 {
		words, k := x.draw(r, 1+i%6), []int{1, 10, 1000}[i%3]
		got := x.top(t, words, k)
		require.Equal(t, x.each(t, words, k), got)
		for j, h := range x.flat.top(words, x.gains(words), k, true) {
			require.InEpsilon(t, h.Score, got[j].Score, 1e-5)
		}
	}
}
