package ql

import (
	"strings"
	"unicode/utf8"
)

// Limits of a statement. Texts come from strangers: no text may make the
// parser, or whoever walks the tree, run out of stack or of memory.
const (
	// maxDepth bounds the levels of an expression: each parenthesis, bracket
	// and brace, each "not", "case", arithmetic operator and unary minus, and
	// each further term of a chain of "and" or "or" is one.
	maxDepth = 512

	// maxInner bounds the gets inside "in" that are inside one another. The
	// levels of each are counted apart.
	maxInner = 4

	// maxLookups bounds the levels of a chain of lookups.
	maxLookups = 8

	// maxTerms bounds the fields, parameters, calls, columns, keys to sort and
	// to group by, facets and declared fields of a statement, counted together. The names and the
	// constants of its documents are not among them: a text can hold any
	// number, as their memory is a small multiple of their text.
	maxTerms = 1 << 20

	// maxKeys bounds the keys of a path.
	maxKeys = 64
)

// Parse parses a text that is exactly one statement. The error is an *[Error].
func Parse(text string) (Statement, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	stmt := p.statement()
	p.expectEnd()
	if p.err != nil {
		return nil, p.err
	}
	return stmt, nil
}

// ParseScript parses a text of one or more statements. A semicolon is no more
// than white space, so whatever can continue a statement does. The error is
// an *[Error].
func ParseScript(text string) ([]Statement, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	script := p.script()
	if p.err != nil {
		return nil, p.err
	}
	return script, nil
}

// ParseExpr parses a text that is one expression, such as the condition of a
// where clause. The error is an *[Error].
func ParseExpr(text string) (Expr, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	e, _ := p.expr()
	p.expectEnd()
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}

// A parser reads statements by recursive descent. Its methods follow the
// grammar: each reads what it is named for, starting at tok.
//
// The first error ends the text: from then on every token is the end, so that
// all loops finish, and what the methods return means nothing.
type parser struct {
	lex   lexer
	tok   token     // the token to be read
	ahead token     // the one after it
	last  token     // the one before it; kind tokenEnd at the start
	err   error     // the first error, an *Error
	depth int       // levels open around tok
	inner int       // gets open around tok that are inside "in"
	terms int       // see maxTerms
	slab  []Literal // literals not yet given out

	aggregates int   // aggregates read that are not inside another get or aggregate
	aggregate  token // the name of the last one
}

// script reads statements up to the end of the text. Each has limits of its own.
func (p *parser) script() []Statement {
	var script gather[Statement]
	for {
		p.terms = 0
		script.add(p.statement())
		if p.tok.kind == tokenEnd {
			return script.items()
		}
	}
}

// newParser returns a parser at the first token. The parser is returned by
// value to keep it off the heap.
func newParser(text string) (parser, error) {
	p := parser{lex: lexer{text: text, line: 1}}
	if !utf8.ValidString(text) {
		return p, errorAt(text, invalidAt(text), "", "the text is not valid UTF-8")
	}
	p.tok = p.lex.next()
	p.ahead = p.tok
	if p.tok.kind != tokenBad {
		p.ahead = p.lex.next()
	}
	return p, nil
}

// invalidAt returns the offset of the first byte that is not UTF-8 in text,
// which has one.
func invalidAt(text string) int {
	for at := 0; ; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}

// advance goes on to the next token.
func (p *parser) advance() {
	p.last = p.tok
	p.tok = p.ahead
	if p.tok.kind != tokenBad && p.tok.kind != tokenEnd {
		p.ahead = p.lex.next()
	}
}

// third returns the token after the one ahead, which must be no bad one.
func (p *parser) third() token {
	rest := p.lex
	return rest.next()
}

// text returns the text of a token.
func (p *parser) text(t *token) string { return p.lex.text[t.start:t.end] }

// is reports whether the token is the keyword w.
func (p *parser) is(w string) bool { return p.lex.is(&p.tok, w) }

// accept reads the keyword w if it comes next, and reports whether it did.
func (p *parser) accept(w string) bool {
	if !p.lex.is(&p.tok, w) {
		return false
	}
	p.advance()
	return true
}

// acceptBefore reads the optional keyword w, which has a name after it: where
// no word follows, w is itself the name.
func (p *parser) acceptBefore(w string) bool {
	return p.ahead.kind == tokenWord && p.accept(w)
}

// expect reads the keyword w.
func (p *parser) expect(w string) {
	if !p.accept(w) {
		p.expected(quote(w))
	}
}

// acceptPunct reads the punctuation k if it comes next.
func (p *parser) acceptPunct(k tokenKind) bool {
	if p.tok.kind != k {
		return false
	}
	p.advance()
	return true
}

// expectPunct reads the punctuation k, which is an ASCII character.
func (p *parser) expectPunct(k tokenKind) {
	if !p.acceptPunct(k) {
		p.expected(quote(string(rune(k))))
	}
}

// expectEnd checks that the whole text was read.
func (p *parser) expectEnd() {
	if p.tok.kind != tokenEnd {
		p.unexpected()
	}
}

// expected fails because something else than what stands next.
func (p *parser) expected(what string) {
	msg := "expected " + what
	if p.last.kind != tokenEnd {
		msg += " after " + quote(p.text(&p.last))
	}
	found := "end of text"
	if p.tok.kind != tokenEnd {
		found = quote(p.text(&p.tok))
	}
	p.fail(&p.tok, msg+", found "+found)
}

// unexpected fails because the next token continues nothing.
func (p *parser) unexpected() {
	p.fail(&p.tok, "unexpected "+quote(p.text(&p.tok))+" after "+quote(p.text(&p.last)))
}

// fail records an error at the token t, and ends the text. A bad token is its
// own reason to fail, whatever was to be said about it.
func (p *parser) fail(t *token, msg string) {
	if p.err != nil {
		return
	}
	near := p.text(t)
	if t.kind == tokenBad {
		msg = p.lex.problem + " " + quote(near)
	}
	p.err = errorAt(p.lex.text, t.start, near, msg)
	p.tok = token{start: len(p.lex.text), end: len(p.lex.text)}
	p.ahead = p.tok
}

// enter opens a level around the token t. Each enter has its leave.
func (p *parser) enter(t *token) {
	p.depth++
	if p.depth > maxDepth {
		p.tooDeep(t)
	}
}

func (p *parser) leave() { p.depth-- }

// tooDeep fails because the levels of an expression at t are too many.
func (p *parser) tooDeep(t *token) {
	p.fail(t, "expression too deep: it has more than 512 levels")
}

// term counts a term of the statement.
func (p *parser) term() {
	p.terms++
	if p.terms > maxTerms {
		p.fail(&p.tok, "statement too large: it has more than a million fields, parameters and calls")
	}
}

// name reads a name of a collection, field or column. what says which.
func (p *parser) name(what string) Name {
	if p.tok.kind != tokenWord {
		p.expected(what)
		return Name{}
	}
	if p.tok.dotted {
		p.fail(&p.tok, "expected "+what+" without dots, found "+quote(p.text(&p.tok)))
		return Name{}
	}
	n := Name{Pos: p.tok.pos, Text: p.text(&p.tok)}
	p.advance()
	return n
}

// path reads a path. The token is known to be a word.
func (p *parser) path() Path {
	path := Path{Pos: p.tok.pos, Field: p.text(&p.tok)}
	if p.tok.dotted {
		n := strings.Count(path.Field, ".")
		if n > maxKeys {
			p.fail(&p.tok, "a path of more than 64 keys: "+quote(path.Field))
			return Path{}
		}
		parts := strings.SplitN(path.Field, ".", n+1)
		path.Field, path.Keys = parts[0], parts[1:]
	}
	p.advance()
	return path
}
