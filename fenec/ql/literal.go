package ql

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// literal returns a literal equal to v. Literals come from blocks of growing
// size, as a list may hold a great many of them.
func (p *parser) literal(v Literal) *Literal {
	if len(p.slab) == cap(p.slab) {
		p.slab = make([]Literal, 0, min(2*cap(p.slab)+1, 256))
	}
	p.slab = append(p.slab, v)
	return &p.slab[len(p.slab)-1]
}

// The literals that a long list repeats most are shared.
var (
	nullLiteral  = &Literal{Kind: Null}
	falseLiteral = &Literal{Kind: Bool}
	trueLiteral  = &Literal{Kind: Bool, Bool: true}

	digitLiterals = func() (ds [10]Literal) {
		for i := range ds {
			ds[i] = Literal{Kind: Int, Int: int64(i)}
		}
		return ds
	}()
)

// wordLiteral returns the literal that the bare word at tok is in an expression, or
// nil.
func (p *parser) wordLiteral() *Literal {
	switch {
	case p.is("null"):
		return nullLiteral
	case p.is("true"):
		return trueLiteral
	case p.is("false"):
		return falseLiteral
	}
	return nil
}

// number reads a number, with a minus before it when negative is set.
func (p *parser) number(negative bool) *Literal {
	if p.tok.kind == tokenFloat {
		return p.float(negative)
	}
	n := p.magnitude()
	switch {
	case negative && n <= -math.MinInt64:
		return p.literal(Literal{Kind: Int, Int: -int64(n)})
	case negative || n > math.MaxInt64:
		p.integerRange(&p.last)
		return nil
	case n < uint64(len(digitLiterals)):
		return &digitLiterals[n]
	}
	return p.literal(Literal{Kind: Int, Int: int64(n)})
}

// float reads a decimal, with a minus before it when negative is set.
func (p *parser) float(negative bool) *Literal {
	f, err := strconv.ParseFloat(p.digits(), 64)
	if err != nil {
		p.fail(&p.tok, "a number beyond the range of a float: "+quote(p.text(&p.tok)))
		return nil
	}
	p.advance()
	if negative {
		f = -f
	}
	return p.literal(Literal{Kind: Float, Float: f})
}

// magnitude reads an integer without its sign.
func (p *parser) magnitude() uint64 {
	n, err := strconv.ParseUint(p.digits(), 10, 64)
	if err != nil {
		p.integerRange(&p.tok)
		return 0
	}
	p.advance()
	return n
}

// integer reads an integer that is not negative. what says what it stands for.
func (p *parser) integer(what string) int64 {
	if p.tok.kind != tokenInt {
		p.expected(what)
		return 0
	}
	n := p.magnitude()
	if n > math.MaxInt64 {
		p.integerRange(&p.last)
		return 0
	}
	return int64(n)
}

func (p *parser) integerRange(t *token) {
	p.fail(t, "an integer beyond 64 bits: "+quote(p.text(t)))
}

// digits returns the text of a number without the underscores in it.
func (p *parser) digits() string {
	s := p.text(&p.tok)
	if strings.IndexByte(s, '_') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "_", "")
}

// param reads a parameter.
func (p *parser) param() *Param {
	n, err := strconv.Atoi(p.text(&p.tok)[1:])
	switch {
	case err != nil:
		p.fail(&p.tok, "a parameter's number is too large: "+quote(p.text(&p.tok)))
	case n == 0:
		p.fail(&p.tok, "parameters count from $1, found "+quote(p.text(&p.tok)))
	}
	param := &Param{Pos: p.tok.pos, N: n}
	p.term()
	p.advance()
	return param
}

// str reads a string and returns the text it stands for.
func (p *parser) str() string {
	s := p.text(&p.tok)
	s = s[1 : len(s)-1]
	if p.tok.escaped {
		s = unescape(s)
	}
	p.advance()
	return s
}

// unescape resolves the backslashes of s, each of which has a character after it.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		b.WriteByte(unescaped(s[i+1]))
		s = s[i+2:]
	}
}

// unescaped returns what the byte c stands for after a backslash. The first
// byte of a longer character stands for itself.
func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case '0':
		return 0
	}
	return c
}

// constant reads a literal, a list or an object.
func (p *parser) constant() Expr {
	switch p.tok.kind {
	case tokenInt, tokenFloat:
		return p.number(false)
	case '-':
		return p.signed()
	case tokenString:
		return p.literal(Literal{Kind: Text, Text: p.str()})
	case '[':
		return p.list()
	case '{':
		return p.object()
	case tokenWord:
		if l := p.wordLiteral(); l != nil {
			p.advance()
			return l
		}
	}
	p.expected("a constant")
	return nil
}

// signed reads a number with the minuses before it. After an error it returns
// nil.
func (p *parser) signed() *Literal {
	negative := false
	for p.acceptPunct('-') {
		negative = !negative
	}
	if p.tok.kind != tokenInt && p.tok.kind != tokenFloat {
		p.expected("a number")
		return nil
	}
	return p.number(negative)
}

// list reads a list literal.
func (p *parser) list() *List {
	p.enter(&p.tok)
	defer p.leave()
	p.advance()
	var items gather[Expr]
	for p.tok.kind != ']' {
		items.add(p.constant())
		if !p.acceptPunct(',') {
			break
		}
	}
	p.expectPunct(']')
	return &List{Items: items.items()}
}

// object reads an object literal.
func (p *parser) object() *Object {
	p.enter(&p.tok)
	defer p.leave()
	p.advance()
	var (
		members gather[Member]
		keys    keySet
	)
	for p.tok.kind != '}' {
		at := p.tok
		key := p.key()
		p.expectPunct(':')
		if !keys.add(members.last, key) {
			p.fail(&at, "the key "+quote(key)+" comes twice in an object")
		}
		members.add(Member{Key: key, Value: p.constant()})
		if !p.acceptPunct(',') {
			break
		}
	}
	p.expectPunct('}')
	return &Object{Members: members.items()}
}

// key reads the key of an object's member: a string, a name, or a path, whose
// dots are then part of the key.
func (p *parser) key() string {
	switch p.tok.kind {
	case tokenString:
		return p.str()
	case tokenWord:
		s := p.text(&p.tok)
		p.advance()
		return s
	}
	p.expected("a key")
	return ""
}

// A keySet finds the keys that an object has already. The first keys are
// looked for one by one.
type keySet map[string]struct{}

// fewKeys is the number of members up to which an object needs no map.
const fewKeys = 8

// add adds a key, and reports whether the object lacked it. before holds the
// object's members as long as they are few.
func (s *keySet) add(before []Member, key string) bool {
	if *s == nil && len(before) < fewKeys {
		return !slices.ContainsFunc(before, func(m Member) bool { return m.Key == key })
	}
	if *s == nil {
		*s = make(keySet, 2*fewKeys)
		for _, m := range before {
			(*s)[m.Key] = struct{}{}
		}
	}
	n := len(*s)
	(*s)[key] = struct{}{}
	return len(*s) > n
}
