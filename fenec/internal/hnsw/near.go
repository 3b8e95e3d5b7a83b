package hnsw

import "math"

// near is a node and how far it is from something: the rank above, then the
// node, then two marks. Compared as numbers, the nearer comes first, and nodes
// equally far come in the order of their numbers.
type near uint64

// Marks of a near in a beam.
const (
	expanded near = 1 << iota // its neighbours have been looked at
	passing                   // it is walked through but is no result
)

func nearAt(rank, node uint32) near { return near(rank)<<32 | near(node)<<2 }

func (x near) rank() uint32 { return uint32(x >> 32) }

func (x near) node() uint32 { return uint32(x) >> 2 }

// plain returns x without its marks.
func (x near) plain() near { return x &^ (expanded | passing) }

// rankOf maps distances to numbers in the same order: the nearer, the lower. The
// sign bit of an IEEE 754 number is flipped, and all others too if it was set.
func rankOf(distance float32) uint32 {
	b := math.Float32bits(distance)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

// distanceOf is the inverse of rankOf.
func distanceOf(rank uint32) float32 {
	return math.Float32frombits(rank ^ (^uint32(int32(rank)>>31) | 1<<31))
}

// heap is a binary heap whose least element is the first.
type heap []near

func (h *heap) push(x near) {
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if s[up] <= x {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = x
}

func (h *heap) pop() near {
	s := *h
	least, last := s[0], s[len(s)-1]
	*h = s[:len(s)-1]
	if len(*h) > 0 {
		h.replace(last)
	}
	return least
}

// replace takes the least element away and puts x in.
func (h *heap) replace(x near) {
	s := *h
	i := 0
	for {
		down := 2*i + 1
		if down >= len(s) {
			break
		}
		if down+1 < len(s) && s[down+1] < s[down] {
			down++
		}
		if x <= s[down] {
			break
		}
		s[i] = s[down]
		i = down
	}
	s[i] = x
}
