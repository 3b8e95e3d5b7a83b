package main

import (
	"math"
	"math/rand/v2"
)

// zipf draws numbers of [0, n) of which few come often, as in YCSB: the k-th most
// frequent with a probability in proportion to 1/k^0.99. They are scattered over
// the range. Method: Gray, Sundaresan, Englert, Baclawski and Weinberger,
// "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994. It is not
// changed by drawing, so that goroutines may share it.
type zipf struct {
	n                 uint64
	alpha, eta, zetan float64
	second            float64 // below it the second most frequent is drawn
}

const zipfTheta = 0.99

func newZipf(n int) *zipf {
	zetan := zeta(n)
	return &zipf{
		n:      uint64(n),
		alpha:  1 / (1 - zipfTheta),
		eta:    (1 - math.Pow(2/float64(n), 1-zipfTheta)) / (1 - zeta(2)/zetan),
		zetan:  zetan,
		second: 1 + math.Pow(0.5, zipfTheta),
	}
}

// zeta returns the sum of 1/k^theta for k up to n.
func zeta(n int) float64 {
	sum := 0.0
	for k := 1; k <= n; k++ {
		sum += math.Pow(float64(k), -zipfTheta)
	}
	return sum
}

// draw returns the next number.
func (z *zipf) draw(rng *rand.Rand) int { return int(scatter(z.rank(rng.Float64())) % z.n) }

// rank returns which most frequent number, from 0, an even draw of [0, 1) stands
// for.
func (z *zipf) rank(u float64) uint64 {
	uz := u * z.zetan
	switch {
	case uz < 1:
		return 0
	case uz < z.second:
		return 1
	}
	return min(uint64(float64(z.n)*math.Pow(z.eta*u-z.eta+1, z.alpha)), z.n-1)
}

// scatter hashes a number as FNV-1a does its eight bytes.
func scatter(x uint64) uint64 {
	h := uint64(0xcbf29ce484222325)
	for range 8 {
		h = (h ^ x&0xff) * 0x100000001b3
		x >>= 8
	}
	return h
}
