package main

// posting holds the ids of rows by a value that is a small number: what an index
// on it must answer.
type posting struct {
	first []int32 // by value, and one past the last
	ids   []int32 // by value, then by id
}

// newPosting makes the posting of values, which lie in [0, n); the row at i has
// the id i+1.
func newPosting(values []int32, n int) posting {
	p := posting{first: make([]int32, n+1), ids: make([]int32, len(values))}
	for _, v := range values {
		p.first[v+1]++
	}
	for v := range n {
		p.first[v+1] += p.first[v]
	}
	next := append([]int32(nil), p.first...)
	for i, v := range values {
		p.ids[next[v]] = int32(i + 1)
		next[v]++
	}
	return p
}

// of returns the ids of the rows with the value v, ascending.
func (p posting) of(v int) []int32 { return p.between(v, v+1) }

// between returns the ids of the rows with a value in [lo, hi), by value and
// then by id.
func (p posting) between(lo, hi int) []int32 { return p.ids[p.first[lo]:p.first[hi]] }

// values returns how many values there are.
func (p posting) values() int { return len(p.first) - 1 }
