package posting

import "math"

// Term is a term of a text query. Its list holds texts' postings.
type Term struct {
	List  *List
	Count int     // how often the query has the term
	IDF   float32 // what Scorer.IDF gives for the documents that have it
}

// Entry is a component of a sparse query. Its list holds weights.
type Entry struct {
	List   *List
	Weight float32 // finite
}

// Hit is a document found, and its score.
type Hit struct {
	ID    uint64
	Score float32
}

// Query ranks the documents that have one of its terms. Its lists are moved, so
// it answers once. Every list is the query's alone.
type Query struct {
	terms []term // in the order that contributions are added
	floor float32
}

// term is a list of a query.
type term struct {
	list    *List
	weigher weigher
	share   float64 // what the document at hand gets from the list

	most float64 // limit of every share, at least 0

	// Of the block the list is at, for ids up to last.
	limit float64
	last  uint64
}

// Match returns a query whose scores are BM25: what the terms contribute is added
// in float64, in the order given. Only scores above 0 count.
func Match(s Scorer, terms []Term) *Query {
	q := &Query{terms: make([]term, len(terms))}
	for i, t := range terms {
		q.terms[i] = term{list: t.List, weigher: s.weigher(t.Count, t.IDF)}
	}
	return q
}

// Dot returns a query whose scores are dot products: products of weights, which
// are exact in float64, are added in float64, in the order given, which is to be
// that of ascending indexes. Scores may be negative.
func Dot(entries []Entry) *Query {
	q := &Query{terms: make([]term, len(entries)), floor: float32(math.Inf(-1))}
	for i, e := range entries {
		q.terms[i] = term{list: e.List, weigher: dotWeigher(e.Weight)}
	}
	return q
}

// Score rounds a sum to a score. Scores are finite, so that they can be written
// as JSON; NaN comes from damage only.
func Score(sum float64) float32 {
	switch {
	case sum > math.MaxFloat32:
		return math.MaxFloat32
	case sum < -math.MaxFloat32:
		return -math.MaxFloat32
	}
	return float32(sum)
}

// err returns what ended a list early.
func (q *Query) err() error {
	for i := range q.terms {
		if err := q.terms[i].list.Err(); err != nil {
			return err
		}
	}
	return nil
}
