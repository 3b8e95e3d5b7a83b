package ql

import "math"

// selectList reads "*", which marks may follow, or columns.
func (p *parser) selectList(g *Get) {
	g.Star = p.acceptPunct('*')
	g.Columns = nil
	if g.Star && !p.acceptPunct(',') {
		return
	}
	var (
		list  gather[Column]
		marks markSet
	)
	for {
		p.term()
		at := p.tok
		c := p.column(g.Star)
		if c.Mark != nil && !marks.add(c.Mark) {
			p.fail(&at, "a second "+c.Mark.Kind.String()+" of the field "+quote(c.Mark.Field.Text))
		}
		list.add(c)
		if !p.acceptPunct(',') {
			break
		}
	}
	g.Columns = list.items()
}

// column reads one item of a select list, a mark for certain after "*".
func (p *parser) column(afterStar bool) Column {
	if p.tok.kind == tokenWord && p.ahead.kind == '(' {
		if kind := markKind(p.text(&p.tok)); kind != 0 {
			return Column{Mark: p.mark(kind)}
		}
	}
	if afterStar {
		p.expected("highlight or snippet")
		return Column{}
	}
	e, _ := p.expr()
	c := Column{Expr: e}
	if p.accept("as") {
		c.As = p.name("a column's name")
	}
	return c
}

// A markSet finds the marks that a select list has already. It holds one of
// each kind and field at most.
type markSet map[markKey]struct{}

type markKey struct {
	kind  MarkKind
	field string
}

// add adds a mark, and reports whether the select list lacked it.
func (s *markSet) add(m *Mark) bool {
	if *s == nil {
		*s = make(markSet)
	}
	n := len(*s)
	(*s)[markKey{m.Kind, m.Field.Text}] = struct{}{}
	return len(*s) > n
}

// markKind returns the mark whose word name is, or 0.
func markKind(name string) MarkKind {
	switch {
	case isWord(name, "highlight"):
		return MarkHighlight
	case isWord(name, "snippet"):
		return MarkSnippet
	}
	return 0
}

// mark reads a mark.
func (p *parser) mark(kind MarkKind) *Mark {
	word := p.tok
	m := &Mark{Pos: word.pos, Kind: kind}
	p.advance()
	p.advance()
	m.Field = p.name("a field")
	if kind == MarkSnippet {
		p.expectPunct(',')
		m.Words = *p.between(1, math.MaxInt64)
	}
	for p.acceptPunct(',') {
		p.tag(m, &word)
	}
	p.expectPunct(')')
	p.checkTags(m, &word)
	return m
}

// tag reads an argument of the mark m, whose word is given.
func (p *parser) tag(m *Mark, word *token) {
	at := p.tok
	e, _ := p.expr()
	switch e.(type) {
	case *Literal, *Param:
	default:
		p.fail(&at, "the tags and the ellipsis of "+m.Kind.String()+" are constants or parameters")
	}
	m.Args = append(m.Args, e)
	if len(m.Args) > maxTags {
		p.checkTags(m, word)
	}
}

// maxTags is the number of arguments that no mark has more of.
const maxTags = 3

// checkTags checks the number of the arguments of the mark m, whose word is given.
func (p *parser) checkTags(m *Mark, word *token) {
	n := len(m.Args)
	switch {
	case m.Kind == MarkHighlight && n != 0 && n != 2:
		p.fail(word, "highlight takes two tags or none")
	case m.Kind == MarkSnippet && n != 0 && n != 1 && n != 3:
		p.fail(word, "snippet takes an ellipsis and two tags, an ellipsis or none")
	}
}
