package text

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Every character is asked of the unicode package itself. Alphabetic holds the
// letters of any case, which are no less part of Other_Alphabetic where they are
// not letters.
func TestClasses(t *testing.T) {
	table := classes()
	for r := range rune(unicode.MaxRune + 1) {
		alphabetic := unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic,
			unicode.Other_Lowercase, unicode.Other_Uppercase)
		word := alphabetic || unicode.IsNumber(r) || in(signs, r)
		folded, ok := fold(r)
		want := when(word, inWord) | when(!ok || folded != r, folds) | when(unicode.IsMark(r), mark) |
			when(in(pairScripts, r), pairs) | when(in(tripleScripts, r), triples)
		if want != table[r] { // a million calls of require take seconds
			require.Equal(t, want, table[r], "%U", r)
		}
	}
	require.Zero(t, table[unicode.ReplacementChar])
}

func when(is bool, c class) class {
	if is {
		return c
	}
	return 0
}

func in(ranges []between, r rune) bool {
	for _, b := range ranges {
		if b.lo <= r && r <= b.hi {
			return true
		}
	}
	return false
}

// The table of ASCII must say what the other one says.
func TestFoldASCII(t *testing.T) {
	table := classes()
	for c, got := range foldASCII {
		want := byte(notASCII)
		if c < 0x80 {
			folded, _ := fold(rune(c))
			want = byte(folded)
			if table[c]&inWord == 0 {
				want = 0
			}
		}
		require.Equal(t, want, got, "%q", rune(c))
	}
}

// Folding twice is folding once, and leaves a character in its script.
func TestFoldIsIdempotent(t *testing.T) {
	table := classes()
	for r := range rune(unicode.MaxRune + 1) {
		folded, ok := fold(r)
		if !ok || table[r]&inWord == 0 {
			continue
		}
		again, ok := fold(folded)
		require.True(t, ok)
		require.Equal(t, folded, again, "%U", r)
		require.Equal(t, table[r]&^folds, table[folded]&^folds, "%U", r)
	}
}
