package main

import (
	"cmp"
	"math"
	"slices"
)

// The parameters of BM25 (Robertson and Zaragoza 2009) that @text has by default.
const (
	bm25K1 = 0.9
	bm25B  = 0.4
)

// hit is a document of an answer.
type hit struct {
	id    int32 // from 0
	score float64
}

// textIndex is an inverted index of texts in memory.
type textIndex struct {
	prefix    int // as terms takes it
	lists     map[string]*termList
	documents int       // with a term
	norms     []float32 // of each text: what is added to a tf in BM25's denominator
}

// termList is the texts that have a term, ascending.
type termList struct {
	ids   []int32
	tfs   []int32
	idf   float64
	bound float32 // the most that the term adds to a score
}

func newTextIndex(texts []string, prefix int) *textIndex {
	x := &textIndex{prefix: prefix, lists: map[string]*termList{}, norms: make([]float32, len(texts))}
	lengths, total := make([]int, len(texts)), 0
	for i, text := range texts {
		lengths[i] = x.add(int32(i), terms(text, prefix))
		total += lengths[i]
		if lengths[i] > 0 {
			x.documents++
		}
	}
	mean := max(float64(total)/float64(max(x.documents, 1)), 1)
	for i, n := range lengths {
		x.norms[i] = float32(bm25K1 * (1 - bm25B + bm25B*float64(n)/mean))
	}
	for _, l := range x.lists {
		df := float64(len(l.ids))
		l.idf = math.Log(1 + (float64(x.documents)-df+0.5)/(df+0.5))
		for i, id := range l.ids {
			l.bound = max(l.bound, x.weigh(l, 1, id, l.tfs[i]))
		}
	}
	return x
}

// add adds a text and returns its length in terms.
func (x *textIndex) add(id int32, terms []string) int {
	for _, t := range terms {
		l := x.lists[t]
		if l == nil {
			l = &termList{}
			x.lists[t] = l
		}
		if n := len(l.ids); n > 0 && l.ids[n-1] == id {
			l.tfs[n-1]++
			continue
		}
		l.ids, l.tfs = append(l.ids, id), append(l.tfs, 1)
	}
	return len(terms)
}

// weigh returns what a term adds to the score of a text.
func (x *textIndex) weigh(l *termList, qtf float64, id, tf int32) float32 {
	return float32(qtf * l.idf * float64(tf) * (bm25K1 + 1) / (float64(tf) + float64(x.norms[id])))
}

// queryTerm is a term of a question that some text has.
type queryTerm struct {
	list *termList
	qtf  float64
}

// queryTerms returns the terms of a question, each once, in their order.
func (x *textIndex) queryTerms(question string) []queryTerm {
	var out []queryTerm
	for _, t := range terms(question, x.prefix) {
		l := x.lists[t]
		if l == nil {
			continue
		}
		i := slices.IndexFunc(out, func(q queryTerm) bool { return q.list == l })
		if i < 0 {
			out = append(out, queryTerm{list: l, qtf: 1})
			continue
		}
		out[i].qtf++
	}
	return out
}

// all returns every text that has a term of the question, the best first, by
// scoring every posting.
func (x *textIndex) all(question string) []hit {
	scores := map[int32]float64{}
	for _, q := range x.queryTerms(question) {
		for i, id := range q.list.ids {
			scores[id] += float64(x.weigh(q.list, q.qtf, id, q.list.tfs[i]))
		}
	}
	out := make([]hit, 0, len(scores))
	for id, score := range scores {
		out = append(out, hit{id, score})
	}
	slices.SortFunc(out, better)
	return out
}

// better orders hits by falling score, and those with equal scores by id.
func better(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
}
