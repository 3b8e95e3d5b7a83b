package value

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lower returns a text in lower case, and any other value as it is.
func Lower(v Value) Value {
	if v.kind != KindText {
		return v
	}
	return Text(LowerString(v.str()))
}

// Upper returns a text in upper case, and any other value as it is.
func Upper(v Value) Value {
	if v.kind != KindText {
		return v
	}
	return Text(UpperString(v.str()))
}

// LowerString returns s in lower case by the default full mapping of Unicode
// (The Unicode Standard, 3.13): İ becomes i and U+0307, and a Σ that ends a
// word becomes ς.
func LowerString(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return string(appendLower(make([]byte, 0, len(s)+len(s)/8), s))
}

// UpperString returns s in upper case by the default full mapping of Unicode:
// ß becomes SS.
func UpperString(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	dst := make([]byte, 0, len(s)+len(s)/8)
	for _, r := range s {
		if full, ok := fullUpper[r]; ok {
			dst = append(dst, full...)
		} else {
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		}
	}
	return string(dst)
}

// Contains reports whether t and s are texts and t holds s when both are in
// lower case. The empty text is in every text.
func Contains(t, s Value) bool {
	return t.kind == KindText && s.kind == KindText && ContainsLower(t.str(), LowerString(s.str()))
}

// ContainsLower reports whether t in lower case holds lower, which LowerString
// has returned. It is for looking for one text in many.
func ContainsLower(t, lower string) bool {
	if isASCII(t) {
		return asciiContains(t, lower)
	}
	var buf [256]byte
	low := appendLower(buf[:0], t)
	return strings.Contains(asString(low), lower)
}

// asciiContains is ContainsLower of a t that is ASCII.
func asciiContains(t, lower string) bool {
	if lower == "" {
		return true
	}
	for ; len(t) >= len(lower); t = t[1:] {
		if lowerASCII(t[0]) == lower[0] && asciiEqual(t[:len(lower)], lower) {
			return true
		}
	}
	return false
}

func asciiEqual(t, lower string) bool {
	for i := range len(t) {
		if lowerASCII(t[i]) != lower[i] {
			return false
		}
	}
	return true
}

func lowerASCII(c byte) byte {
	if c-'A' < 26 {
		return c + 'a' - 'A'
	}
	return c
}

func isASCII(s string) bool {
	for len(s) >= 8 {
		first := s[:8]
		if (first[0]|first[1]|first[2]|first[3]|first[4]|first[5]|first[6]|first[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendLower(dst []byte, s string) []byte {
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf:
			dst = append(dst, lowerASCII(byte(r)))
		case r == 'İ':
			dst = append(dst, "i\u0307"...)
		case r == 'Σ' && endsWord(s, i):
			dst = append(dst, "ς"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return dst
}

// endsWord is the condition Final_Sigma of Unicode's SpecialCasing for the Σ at
// s[i:]: before it comes a cased letter, after it comes none, and characters
// that case ignores are passed over.
func endsWord(s string, i int) bool {
	before := strings.TrimRightFunc(s[:i], isCaseIgnorable)
	if r, _ := utf8.DecodeLastRuneInString(before); before == "" || !isCased(r) {
		return false
	}
	after := strings.TrimLeftFunc(s[i+len("Σ"):], isCaseIgnorable)
	r, _ := utf8.DecodeRuneInString(after)
	return after == "" || !isCased(r)
}

// isCased is Unicode's property Cased.
func isCased(r rune) bool {
	return unicode.In(r, unicode.Lower, unicode.Upper, unicode.Title,
		unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable is Unicode's property Case_Ignorable: marks, modifiers, format
// characters, and the punctuation that may stand within a word.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
