package ql

import "strconv"

// Shape returns a statement's text with its literals and parameters taken out, so
// that statements that differ in values alone have one: each is written $1, $2 and
// so on, a list of them as one, and blanks and comments as one space. What comes
// after a character that belongs nowhere is left as it is.
func Shape(text string) string {
	s := shaper{lex: lexer{text: text, line: 1}, out: make([]byte, 0, len(text))}
	s.advance()
	for s.tok.kind != tokenEnd && s.tok.kind != tokenBad {
		s.token()
	}
	if s.tok.kind == tokenBad {
		s.space()
		s.out = append(s.out, text[s.tok.start:]...)
	}
	return string(s.out)
}

// shaper writes the shape of a text.
type shaper struct {
	lex    lexer
	tok    token // at hand
	end    int   // of the token before it
	last   tokenKind
	values int
	out    []byte
}

func (s *shaper) advance() {
	s.end, s.last = s.tok.end, s.tok.kind
	s.tok = s.lex.next()
}

// token writes the token at hand, or the value that begins with it.
func (s *shaper) token() {
	s.space()
	switch {
	case s.isValue():
		s.value()
		s.advance()
	case s.tok.kind == '-' && !s.afterOperand() && s.numberNext():
		s.value()
		s.advance()
		s.advance()
	case s.tok.kind == '[' && s.list():
		s.value()
	default:
		s.out = append(s.out, s.lex.text[s.tok.start:s.tok.end]...)
		s.advance()
	}
}

// space writes a space if something blank stands before the token at hand.
func (s *shaper) space() {
	if s.tok.start > s.end && len(s.out) > 0 {
		s.out = append(s.out, ' ')
	}
}

func (s *shaper) value() {
	s.values++
	s.out = strconv.AppendInt(append(s.out, '$'), int64(s.values), 10)
}

// isValue reports whether the token at hand is a literal or a parameter.
func (s *shaper) isValue() bool {
	switch s.tok.kind {
	case tokenInt, tokenFloat, tokenString, tokenParam:
		return true
	case tokenWord:
		return s.lex.is(&s.tok, "true") || s.lex.is(&s.tok, "false") || s.lex.is(&s.tok, "null")
	}
	return false
}

// afterOperand reports whether a minus at hand takes one thing from another.
func (s *shaper) afterOperand() bool {
	switch s.last {
	case tokenWord, tokenInt, tokenFloat, tokenString, tokenParam, ')', ']':
		return true
	}
	return false
}

func (s *shaper) numberNext() bool {
	ahead := s.lex
	t := ahead.next()
	return t.kind == tokenInt || t.kind == tokenFloat
}

// list passes a list of values, and nothing else in it, that begins at hand.
func (s *shaper) list() bool {
	before := *s
	for s.advance(); s.tok.kind != ']'; s.advance() {
		if !s.isValue() && s.tok.kind != ',' && s.tok.kind != '-' {
			*s = before
			return false
		}
	}
	s.advance()
	return true
}
