package ql

import (
	"slices"
	"strconv"
	"strings"
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

func newPrinter() *printer { return &printer{afterNot: -1, afterCase: -1} }

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
		p.create(s)
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
	case *Del:
		p.str("del")
		p.from(s.From)
		p.pick(s.Where, s.Order, s.Limit)
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
	if strings.EqualFold(n.Text, "from") {
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

// get prints the columns as a clause: which words a select list before "from"
// may start with depends on what follows them.
func (p *printer) get(g *Get) {
	p.str("get")
	p.from(g.From)
	if g.Star {
		p.word("select *")
	}
	for i, c := range g.Columns {
		if i == 0 {
			p.word("select")
		} else {
			p.str(",")
		}
		p.str(" ")
		p.expr(c.Expr, lowest)
		if c.As.Text != "" {
			p.word("as")
			p.name(c.As)
		}
	}
	p.pick(g.Where, g.Order, g.Limit)
	if g.Offset != nil {
		p.word("offset ")
		p.int(*g.Offset)
	}
	if g.Count {
		p.word("count")
	}
}

// pick prints the clauses that pick documents.
func (p *printer) pick(where Expr, order []Key, limit *int64) {
	if where != nil {
		p.word("where ")
		p.expr(where, lowest)
	}
	for i := range order {
		if i == 0 {
			p.word("order by ")
		}
		p.comma(i)
		p.path(&order[i].Path)
		if order[i].Desc {
			p.str(" desc")
		}
	}
	if limit != nil {
		p.word("limit ")
		p.int(*limit)
	}
}

func (p *printer) create(s *CreateCollection) {
	p.str("create collection")
	if s.IfNotExists {
		p.word("if not exists")
	}
	p.name(s.Name)
	p.str(" (")
	for i, f := range s.Fields {
		p.comma(i)
		p.str(f.Name.Text)
		p.str(" ")
		p.str(f.Type.String())
		if f.Required {
			p.str(" required")
		}
		if f.Index != nil {
			p.str(" @")
			p.str(f.Index.Kind.String())
		}
	}
	p.str(")")
}

// String returns the type as a declaration writes it, such as vector<3, f16>.
func (t *TypeDef) String() string {
	switch t.Kind {
	case TypeList:
		return "[" + t.Elem.String() + "]"
	case TypeVector:
		half := ""
		if t.Half {
			half = ", f16"
		}
		return "vector<" + strconv.FormatInt(t.Dim, 10) + half + ">"
	}
	return t.Kind.String()
}
