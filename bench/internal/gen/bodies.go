// Package gen makes the texts, the vectors and the orders of keys that benches
// work with. All of it is the same in every run.
package gen

import (
	"math/rand/v2"
	"strings"
)

// Bodies is a pool of texts, so that making them is not part of what is timed.
type Bodies []string

var syllables = strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va")

// MakeBodies returns n texts of size bytes, the same for every run.
func MakeBodies(n, size int) Bodies {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make(Bodies, n)
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

// At returns the text of i, which must not be negative.
func (b Bodies) At(i int64) string { return b[int(i)%len(b)] }
