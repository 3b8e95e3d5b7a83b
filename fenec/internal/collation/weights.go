package collation

import (
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// weigher computes the weights of texts. It is for one goroutine at a time.
type weigher struct {
	collator *collate.Collator
	buf      collate.Buffer
}

var weighers = [...]sync.Pool{
	Und: {New: func() any { return newWeigher(Und) }},
	TR:  {New: func() any { return newWeigher(TR) }},
}

func newWeigher(c Collation) *weigher {
	return &weigher{collator: collate.New(language.MustParse(c.String()))}
}

// maxKept is the length of the longest text whose weigher is kept for the next
// one: it holds on to the memory it needed.
const maxKept = 16 << 10

// appendLevels appends the levels of the key of any text.
func appendLevels(dst []byte, s string, c Collation) []byte {
	w := weighers[c].Get().(*weigher)
	letters, accents, cases := w.weights(s)
	dst = append(appendLetters(dst, letters), levelEnd)
	start := len(dst)
	dst = closeLevel(appendAccents(dst, accents), start, plainAccent)
	start = len(dst)
	dst = closeLevel(append(dst, cases...), start, plainCase)
	if len(s) <= maxKept {
		weighers[c].Put(w)
	}
	return dst
}

// weights returns the weights of s as the library writes them, which is good
// until the next call: those of letters in 2 bytes, or 3 of which the first bit
// is set, those of accents in 2 and those of case in 1. No weight is 0; two bytes
// 0 end the first two levels.
func (w *weigher) weights(s string) (letters, accents, cases []byte) {
	w.buf.Reset()
	key := w.collator.KeyFromString(&w.buf, s)
	i := 0
	for key[i] != 0 || key[i+1] != 0 {
		i += letterSize(key[i])
	}
	letters, key = key[:i], key[i+2:]
	i = 0
	for key[i] != 0 || key[i+1] != 0 {
		i += 2
	}
	return letters, key[:i], key[i+2:]
}

// letterSize returns the bytes of a letter's weight by the first of them.
func letterSize(first byte) int {
	if first&0x80 != 0 {
		return 3
	}
	return 2
}

// appendLetters appends weights of letters, given as the library writes them, as
// keys have them.
func appendLetters(dst, weights []byte) []byte {
	for len(weights) > 0 {
		w := int(weights[0])<<8 | int(weights[1])
		if letterSize(weights[0]) == 3 {
			w = (w&0x7fff)<<8 | int(weights[2])
		}
		weights = weights[letterSize(weights[0]):]
		dst = appendLetter(dst, w)
	}
	return dst
}

// appendAccents is appendLetters for weights of accents.
func appendAccents(dst, weights []byte) []byte {
	for i := 0; i < len(weights); i += 2 {
		dst = appendAccent(dst, int(weights[i])<<8|int(weights[i+1]))
	}
	return dst
}
