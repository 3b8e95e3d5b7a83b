package collation

import (
	"sync"
	"unicode/utf8"
)

// latinEnd is the first character that is not in the tables.
const latinEnd = 0x180

// middleDot is the one character below latinEnd whose weight depends on the one
// before it.
const middleDot = 0xb7

// latinTable holds the weights of the characters below latinEnd as keys have
// them.
type latinTable [latinEnd]struct{ letters, accents, cases string }

var latinTables = [...]func() *latinTable{
	Und: sync.OnceValue(func() *latinTable { return newLatinTable(Und) }),
	TR:  sync.OnceValue(func() *latinTable { return newLatinTable(TR) }),
}

func newLatinTable(c Collation) *latinTable {
	w := newWeigher(c)
	t := new(latinTable)
	for r := range t {
		letters, accents, cases := w.weights(string(rune(r)))
		t[r].letters = string(appendLetters(nil, letters))
		t[r].accents = string(appendAccents(nil, accents))
		t[r].cases = string(cases)
	}
	return t
}

// isLatin reports whether all characters of s are in the tables.
func isLatin(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= latinEnd || r == middleDot {
			return false
		}
		i += size
	}
	return true
}

// appendLevels appends the levels of the key of s, which isLatin.
func (t *latinTable) appendLevels(dst []byte, s string) []byte {
	for _, r := range s {
		dst = append(dst, t[r].letters...)
	}
	dst = append(dst, levelEnd)
	start := len(dst)
	for _, r := range s {
		dst = append(dst, t[r].accents...)
	}
	dst = closeLevel(dst, start, plainAccent)
	start = len(dst)
	for _, r := range s {
		dst = append(dst, t[r].cases...)
	}
	return closeLevel(dst, start, plainCase)
}
