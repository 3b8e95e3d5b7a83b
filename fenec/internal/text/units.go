package text

import (
	"unicode/utf16"
	"unicode/utf8"
)

// units returns ascending spans of text in UTF-16 units.
func units(text string, spans []span) [][2]int {
	marks := make([][2]int, len(spans))
	at, unit := 0, 0
	for i, s := range spans {
		unit += unitsOf(text[at:s.from])
		marks[i][0] = unit
		unit += unitsOf(text[s.from:s.to])
		marks[i][1] = unit
		at = s.to
	}
	return marks
}

// unitsOf returns the length of text in UTF-16 units. A byte that is not UTF-8
// counts as U+FFFD, which is what it is shown as.
func unitsOf(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// bytesOf returns how many bytes of text the first units are.
func bytesOf(text string, units int) int {
	n := 0
	for units > 0 && n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		units -= utf16.RuneLen(r)
		n += size
	}
	return n
}
