package text

import "unicode"

// The full-width forms of the ASCII characters from ! to ~.
const (
	fullWidthFirst = '！'
	fullWidthLast  = '～'
)

// fold returns the character that stands for r in a term; ok is false when none
// does.
func fold(r rune) (folded rune, ok bool) {
	switch {
	case r == 0x0307:
		return 0, false
	case r == 'İ', r == 'ı':
		return 'i', true
	case fullWidthFirst <= r && r <= fullWidthLast:
		r += '!' - fullWidthFirst
	}
	return unicode.ToLower(r), true
}

// notASCII is what foldASCII has for a byte that is part of a longer character.
const notASCII = 0xff

// foldASCII has for each byte the folded character, or 0 if it ends a word.
var foldASCII = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= 0x80:
			t[c] = notASCII
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}()
