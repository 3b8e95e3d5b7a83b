package value

import (
	"unicode/utf16"
	"unicode/utf8"
)

// span returns the bytes between the quotes of the text at i, and whether they
// are free of escapes.
func (p *parser) span(i int) (raw string, plain bool, err error) {
	plain = true
	for j := plainEnd(p.data, i+1); j < len(p.data); j = plainEnd(p.data, j) {
		switch p.data[j] {
		case '"':
			p.pos = j + 1
			return p.data[i+1 : j], plain, nil
		case '\\':
			plain = false
			j += 2
		default:
			return "", false, p.fail(j, "control character in a text")
		}
	}
	return "", false, p.fail(len(p.data), "text without an end")
}

// unescape returns raw, which lies before pos, with its escapes resolved.
func (p *parser) unescape(raw string) (string, error) {
	base := p.pos - 1 - len(raw)
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++ // span has seen a byte after every backslash
		switch c := raw[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, n := unicodeEscape(raw[i-1:])
			if n == 0 {
				return "", p.fail(base+i-1, `\u without four hexadecimal digits`)
			}
			out = utf8.AppendRune(out, r)
			i += n - 2
		default:
			return "", p.fail(base+i-1, "unknown escape")
		}
	}
	return asString(out), nil
}

// unicodeEscape reads the \uXXXX that s begins with, and a second one that is
// the other half of a surrogate pair. It returns the character and the bytes
// read, or 0 bytes when there are no four digits.
func unicodeEscape(s string) (r rune, n int) {
	r, ok := hexEscape(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hexEscape(s[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hexEscape(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
