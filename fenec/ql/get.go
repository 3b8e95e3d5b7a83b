package ql

// clauseWords are the words that a clause of a get may start with.
var clauseWords = [...]string{"select", "where", "order", "limit", "offset", "count"}

// isClause reports whether the token is a word that may start a clause.
func (p *parser) isClause(t *token) bool {
	for _, w := range clauseWords {
		if p.lex.is(t, w) {
			return true
		}
	}
	return false
}

// get reads what follows "get".
func (p *parser) get() *Get {
	g := &Get{}
	if p.atSelectList() {
		g.Star, g.Columns = p.selectList()
		p.expect("from")
	} else {
		p.acceptBefore("from")
	}
	g.From = p.name("a collection")
	for p.getClause(g) {
	}
	return g
}

// getClause reads one clause, and reports whether there was one.
func (p *parser) getClause(g *Get) bool {
	switch {
	case p.clause(&g.Where, &g.Order, &g.Limit):
	case p.accept("select"):
		g.Star, g.Columns = p.selectList()
	case p.accept("offset"):
		g.Offset = p.count()
	case p.accept("count"):
		g.Count = true
	default:
		return false
	}
	return true
}

// atSelectList reports whether what follows "get" is a select list and not
// the name of a collection. Both may start with any word: the next one tells.
func (p *parser) atSelectList() bool {
	if p.tok.kind != tokenWord {
		return p.tok.kind == '*' || p.tok.startsValue()
	}
	if p.tok.dotted {
		return true
	}
	switch p.ahead.kind {
	case '=', tokenNE, '<', tokenLE, '>', tokenGE, '~', '+', '-', '*', '/', ',', '(':
		return true
	case tokenWord:
		return p.wordsSelect()
	}
	return p.is("not") && p.ahead.startsValue()
}

// wordsSelect reports the same where two words come next.
func (p *parser) wordsSelect() bool {
	switch {
	case p.is("from"):
		return p.lex.is(&p.ahead, "from") && p.fromFrom()
	case p.is("case") && p.lex.is(&p.ahead, "when"):
		return true
	case p.is("not") && !p.isClause(&p.ahead):
		return true
	}
	for _, w := range [...]string{"from", "as", "is", "in", "has", "and", "or"} {
		if p.lex.is(&p.ahead, w) {
			return true
		}
	}
	return false
}

// fromFrom reports whether the first "from" of two is a field. It is where a
// name follows them, as in "get from from t"; in "get from from where a" the
// second is a collection.
func (p *parser) fromFrom() bool {
	rest := p.lex
	t := rest.next()
	return t.kind == tokenWord && !p.isClause(&t)
}

// selectList reads "*" or columns.
func (p *parser) selectList() (star bool, columns []Column) {
	if p.acceptPunct('*') {
		return true, nil
	}
	var list gather[Column]
	for {
		list.add(p.column())
		if !p.acceptPunct(',') {
			return false, list.items()
		}
	}
}

func (p *parser) column() Column {
	p.term()
	e, _ := p.expr()
	c := Column{Expr: e}
	if p.accept("as") {
		c.As = p.name("a column's name")
	}
	return c
}
