package ql

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token. A token of punctuation has the character
// itself for its kind, or one of the named pairs of characters.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota // the end of the text
	tokenBad                     // no token: the lexer's problem says why
	tokenWord                    // a keyword, a name or a path
	tokenInt                     // 12, 1_000
	tokenFloat                   // 1.5, 2e9
	tokenString                  // "text", with its quotes
	tokenParam                   // $1
	tokenLE                      // <=
	tokenGE                      // >=
	tokenNE                      // != or <>
	// What follows are ASCII characters: '=' for = and ==, '(' and so on.
)

// A token is a piece of the text.
type token struct {
	start, end int // byte offsets: text[start:end] is the token
	pos        Pos
	kind       tokenKind
	dotted     bool // a tokenWord with dots: a path
	escaped    bool // a tokenString holds a backslash
}

// A lexer cuts a text, which is valid UTF-8, into tokens.
//
// Columns count characters while offsets count bytes. lineStart hides the
// difference: it is the byte offset at which the line would start if each
// character passed so far had been one byte long.
type lexer struct {
	text      string
	at        int // the next byte
	line      int32
	lineStart int
	problem   string // why the last token was bad
}

// next returns the next token. After a bad one it must not be called again.
func (l *lexer) next() token {
	l.skipBlanks()
	t := token{start: l.at, pos: Pos{Line: l.line, Column: int32(l.at - l.lineStart + 1)}}
	if l.at == len(l.text) {
		t.end = l.at
		return t
	}
	switch c := l.text[l.at]; {
	case isWordStart(c):
		l.word(&t)
	case isDigit(c):
		l.number(&t)
	case c == '"' || c == '\'':
		l.str(&t, c)
	case c == '$':
		l.param(&t)
	case c < utf8.RuneSelf:
		l.punctuation(&t, c)
	default:
		r, _ := utf8.DecodeRuneInString(l.text[l.at:])
		if startsWord(r) {
			l.word(&t)
		} else {
			l.bad(&t, "unexpected character")
		}
	}
	t.end = l.at
	return t
}

// bad makes t a bad token of the one character at l.at.
func (l *lexer) bad(t *token, problem string) {
	l.problem = problem
	t.kind = tokenBad
	_, size := utf8.DecodeRuneInString(l.text[l.at:])
	l.at += size
}

// skipBlanks passes white space, semicolons and comments.
func (l *lexer) skipBlanks() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\n':
			l.at++
			l.newLine()
		case classes[c]&blank != 0:
			l.at++
		case c == '#', c == '-' && strings.HasPrefix(l.text[l.at:], "--"):
			l.skipComment()
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(l.text[l.at:])
			if !unicode.IsSpace(r) {
				return
			}
			l.wide(size)
		default:
			return
		}
	}
}

// skipComment passes everything up to the end of the line.
func (l *lexer) skipComment() {
	if n := strings.IndexByte(l.text[l.at:], '\n'); n >= 0 {
		l.at += n
		return
	}
	l.at = len(l.text)
}

// newLine starts a line at l.at.
func (l *lexer) newLine() {
	l.line++
	l.lineStart = l.at
}

// wide passes one character of size bytes.
func (l *lexer) wide(size int) {
	l.at += size
	l.lineStart += size - 1
}

// word reads a name or a path.
func (l *lexer) word(t *token) {
	t.kind = tokenWord
	for l.part(); l.at < len(l.text) && l.text[l.at] == '.' && l.wordAt(l.at+1); l.part() {
		t.dotted = true
		l.at++
	}
}

// part reads one name of a path.
func (l *lexer) part() {
	for l.at < len(l.text) {
		c := l.text[l.at]
		if c < utf8.RuneSelf {
			if classes[c]&wordPart == 0 {
				return
			}
			l.at++
			continue
		}
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if !startsWord(r) && !unicode.IsNumber(r) {
			return
		}
		l.wide(size)
	}
}

// wordAt reports whether a name may start at the byte offset at.
func (l *lexer) wordAt(at int) bool {
	r, _ := utf8.DecodeRuneInString(l.text[at:])
	return startsWord(r)
}

// number reads an integer or a decimal.
func (l *lexer) number(t *token) {
	t.kind = tokenInt
	ok := l.digits()
	if ok && l.peek(0) == '.' && isDigit(l.peek(1)) {
		t.kind = tokenFloat
		l.at++
		ok = l.digits()
	}
	if ok && l.peek(0)|0x20 == 'e' {
		t.kind = tokenFloat
		l.at++
		if c := l.peek(0); c == '+' || c == '-' {
			l.at++
		}
		if !isDigit(l.peek(0)) {
			t.kind = tokenBad
			l.problem = "an exponent without digits:"
			return
		}
		ok = l.digits()
	}
	if !ok {
		t.kind = tokenBad
		l.problem = `a "_" that is not between two digits:`
	}
}

// digits reads digits with underscores between them, and reports whether the
// underscores are in their places.
func (l *lexer) digits() bool {
	for isDigit(l.peek(0)) {
		l.at++
		if l.peek(0) == '_' {
			l.at++
			if !isDigit(l.peek(0)) {
				return false
			}
		}
	}
	return true
}

// peek returns the byte n bytes ahead, or 0 at the end.
func (l *lexer) peek(n int) byte {
	if l.at+n < len(l.text) {
		return l.text[l.at+n]
	}
	return 0
}

// str reads a string delimited by quote.
func (l *lexer) str(t *token, quote byte) {
	t.kind = tokenString
	for l.at++; l.at < len(l.text); {
		switch c := l.text[l.at]; {
		case c == quote:
			l.at++
			return
		case c == '\\':
			t.escaped = true
			l.at++
			if l.at < len(l.text) {
				l.stringChar()
			}
		default:
			l.stringChar()
		}
	}
	t.kind = tokenBad
	l.problem = "unterminated string"
}

// stringChar passes one character of a string.
func (l *lexer) stringChar() {
	switch c := l.text[l.at]; {
	case c == '\n':
		l.at++
		l.newLine()
	case c < utf8.RuneSelf:
		l.at++
	default:
		_, size := utf8.DecodeRuneInString(l.text[l.at:])
		l.wide(size)
	}
}

// param reads a parameter.
func (l *lexer) param(t *token) {
	t.kind = tokenParam
	for l.at++; isDigit(l.peek(0)); l.at++ {
	}
	if l.at == t.start+1 {
		t.kind = tokenBad
		l.problem = "a parameter without a number:"
	}
}

// punctuation reads a token that begins with c, which begins no other.
func (l *lexer) punctuation(t *token, c byte) {
	kind, size := tokenKind(c), 1
	switch next := l.peek(1); {
	case c == '=' && next == '=':
		size = 2
	case c == '<' && next == '=':
		kind, size = tokenLE, 2
	case c == '>' && next == '=':
		kind, size = tokenGE, 2
	case c == '!' && next == '=', c == '<' && next == '>':
		kind, size = tokenNE, 2
	case strings.IndexByte("{}()[],:@*+-/~<>=", c) < 0:
		l.bad(t, "unexpected character")
		return
	}
	t.kind = kind
	l.at += size
}

// is reports whether the token is the keyword w, which is in lower case.
func (l *lexer) is(t *token, w string) bool {
	return t.end-t.start == len(w) && t.kind == tokenWord && isWord(l.text[t.start:t.end], w)
}

// isWord reports whether the name s is w, which is in lower case, but for the
// case of ASCII letters. Of the bytes a name is made of, only a letter and its
// capital differ in nothing but the bit that is masked here.
func isWord(s, w string) bool {
	if len(s) != len(w) {
		return false
	}
	for i := range len(w) {
		if s[i] != w[i] && s[i]|0x20 != w[i] {
			return false
		}
	}
	return true
}

// Classes of ASCII characters.
const (
	wordStart = 1 << iota
	wordPart
	digit
	blank
)

// classes tells the classes of the ASCII characters; the other bytes have none.
var classes = func() (c [256]uint8) {
	for b := range byte(utf8.RuneSelf) {
		r := rune(b)
		switch {
		case startsWord(r):
			c[b] = wordStart | wordPart
		case '0' <= b && b <= '9':
			c[b] = wordPart | digit
		case unicode.IsSpace(r), b == ';':
			c[b] = blank
		}
	}
	return c
}()

func isDigit(c byte) bool { return classes[c]&digit != 0 }

func isWordStart(c byte) bool { return classes[c]&wordStart != 0 }

// startsWord reports whether a name may start with r: it is alphabetic in the
// sense of Unicode, or an underscore.
func startsWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic)
}
