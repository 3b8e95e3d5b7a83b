package ql

import (
	"slices"
	"strconv"
)

// Print returns the text of a statement, on one line. Parsing it gives an
// equal tree, but for the positions.
func Print(s Statement) string {
	p := newPrinter()
	p.statement(s)
	return string(p.buf)
}

// PrintExpr returns the text of an expression, on one line. For an expression
// that [ParseExpr] returns, parsing the text gives an equal tree, but for the
// positions. Lists, objects and durations print as well.
func PrintExpr(e Expr) string {
	p := newPrinter()
	p.expr(e, lowest)
	return string(p.buf)
}

// A printer appends the text of trees to buf.
type printer struct {
	buf []byte

	// The lengths of buf after a field was printed whose name the next word
	// may turn into something else, or -1.
	afterNot  int // a field called "not", where the operator might stand
	afterCase int // a field called "case"
}

// startText is the room for the text to begin with, in bytes: enough for most.
const startText = 128

func newPrinter() *printer {
	return &printer{buf: make([]byte, 0, startText), afterNot: -1, afterCase: -1}
}

func (p *printer) str(s string) { p.buf = append(p.buf, s...) }

func (p *printer) int(n int64) { p.buf = strconv.AppendInt(p.buf, n, 10) }

// word appends a blank and a keyword or operator. The fields "not" and "case"
// get parentheses before a word that would make an operator or an expression
// of them.
func (p *printer) word(w string) {
	switch len(p.buf) {
	case p.afterNot:
		if w == "-" || isWordStart(w[0]) {
			p.parenthesize("not")
		}
	case p.afterCase:
		if w == "when" {
			p.parenthesize("case")
		}
	}
	p.buf = append(p.buf, ' ')
	p.str(w)
}

// parenthesize puts the word at the end of buf in parentheses.
func (p *printer) parenthesize(word string) {
	at := len(p.buf) - len(word)
	p.buf = slices.Insert(p.buf, at, '(')
	p.str(")")
}

func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *CreateCollection:
		p.createCollection(s)
	case *CreateIndex:
		p.createIndex(s)
	case *AlterCollection:
		p.alter(s)
	case *DropCollection:
		p.str("drop collection")
		if s.IfExists {
			p.word("if exists")
		}
		p.name(s.Name)
	case *Put:
		p.put(s)
	case *Get:
		p.get(s)
	case *Explain:
		p.str("explain ")
		p.get(s.Get)
	case *Set:
		p.str("set")
		p.name(s.Name)
		p.str(" ")
		p.document(s.Pairs)
		p.pick(s.Where, s.Order, s.Limit)
		p.outcome(s.Returning, s.Require)
	case *Del:
		p.str("del")
		p.from(s.From)
		p.pick(s.Where, s.Order, s.Limit)
		p.outcome(s.Returning, s.Require)
	case *Collections:
		p.str("collections")
	case *Describe:
		p.str("describe")
		p.name(s.Name)
	case *Compact:
		p.str("compact")
		if s.Name.Text != "" {
			p.name(s.Name)
		}
	}
}

// name appends a blank and a name.
func (p *printer) name(n Name) {
	p.str(" ")
	p.str(n.Text)
}

// from appends the name of a collection which "from" may precede. It has to
// when the collection is itself called so.
func (p *printer) from(n Name) {
	if isWord(n.Text, "from") {
		p.str(" from")
	}
	p.name(n)
}

func (p *printer) put(s *Put) {
	if s.Insert {
		p.str("insert")
	} else {
		p.str("put")
	}
	p.name(s.Into)
	if s.Param != nil {
		p.str(" ")
		p.param(s.Param)
	}
	for _, d := range s.Docs {
		p.str(" ")
		p.document(d)
	}
	if s.IfAbsent {
		p.word("if absent")
	}
	if s.HasElse {
		p.word("else set ")
		p.document(s.ElseSet)
	}
	p.number("require", s.Require)
}

func (p *printer) document(d Document) {
	p.str("{")
	for i := range d {
		p.comma(i)
		p.pairKey(&d[i].Path)
		p.str(": ")
		p.expr(d[i].Value, lowest)
	}
	p.str("}")
}

// pairKey appends the field of a pair: as a string when it is no name.
func (p *printer) pairKey(path *Path) {
	if len(path.Keys) == 0 {
		p.key(path.Field)
		return
	}
	p.path(path)
}

// comma appends what separates item i of a list from the one before.
func (p *printer) comma(i int) {
	if i > 0 {
		p.str(", ")
	}
}
