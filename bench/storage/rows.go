package main

import (
	"math/rand/v2"
	"strings"
)

// bodyBytes makes a row of 300 bytes together with its two integers.
const bodyBytes = 284

// bodies is a pool of texts, so that making them is not part of what is timed.
type bodies []string

var syllables = strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va")

// makeBodies returns n texts of size bytes, the same for every run.
func makeBodies(n, size int) bodies {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make(bodies, n)
	for i := range out {
		var b strings.Builder
		for b.Len() < size {
			for range 1 + rng.IntN(4) {
				b.WriteString(syllables[rng.IntN(len(syllables))])
			}
			b.WriteByte(' ')
		}
		out[i] = b.String()[:size]
	}
	return out
}

func (b bodies) at(i int64) string { return b[int(i)%len(b)] }

// spread visits the numbers of [0, n) in an order that jumps about, each once
// in n steps, without remembering any.
type spread struct{ n, step, next int64 }

func newSpread(n int64) *spread {
	step := int64(float64(n) * 0.6180339887)
	for step < 1 || gcd(step, n) != 1 {
		step++
	}
	return &spread{n: n, step: step}
}

func (s *spread) take() int64 {
	s.next = (s.next + s.step) % s.n
	return s.next
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
