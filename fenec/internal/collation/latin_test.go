package collation

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLatinTables checks that the tables give what the library gives, for each
// two characters beside each other and for longer texts.
func TestLatinTables(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, c := range []Collation{Und, TR} {
		table := latinTables[c]()
		check := func(s string) {
			if isLatin(s) {
				if want, got := appendLevels(nil, s, c), table.appendLevels(nil, s); string(want) != string(got) {
					require.Equal(t, want, got, "%s %q", c, s)
				}
			}
		}
		check("")
		for a := range rune(latinEnd) {
			check(string(a))
			for b := range rune(latinEnd) {
				check(string([]rune{a, b}))
			}
		}
		for range 20000 {
			text := make([]rune, r.IntN(12))
			for i := range text {
				text[i] = r.Int32N(latinEnd)
			}
			check(string(text))
		}
	}
	require.False(t, isLatin("l·"))
	require.False(t, isLatin("aя"))
	require.False(t, isLatin("a\u0301"))
}

// TestSecondBytes keeps the plain weights from being taken for the second byte
// of an accent's.
func TestSecondBytes(t *testing.T) {
	for w := 0x21; w < 0x4000; w++ {
		b := appendAccent(nil, w)
		require.Equal(t, append(b[:len(b):len(b)], levelEnd), closeLevel(b, 0, plainAccent), w)
		require.Negative(t, bytes.Compare(b, appendAccent(nil, w+1)), w)
	}
	for _, w := range []int{1, 2, 0xff, 0x100, 0x7dff, 0x7e00, 0xffff, 0x15ffff} {
		require.Negative(t, bytes.Compare(appendLetter(nil, w), appendLetter(nil, w+1)), w)
	}
}
