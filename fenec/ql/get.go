package ql

// clauseWords are the words that a clause of a get may start with.
var clauseWords = [...]string{
	"select", "where", "near", "match", "rerank", "fuse", "group", "having",
	"order", "limit", "offset", "count", "require", "facet", "lookup",
}

// isClause reports whether the token is a word that may start a clause.
func (p *parser) isClause(t *token) bool {
	for _, w := range clauseWords {
		if p.lex.is(t, w) {
			return true
		}
	}
	return false
}

// get reads what follows "get". It notes in w, which is empty, where the
// clauses were written.
func (p *parser) get(w *written) *Get {
	g := &Get{}
	if p.atSelectList() {
		w[clauseSelect] = p.last
		p.selectList(g)
		p.expect("from")
	} else {
		p.acceptBefore("from")
	}
	g.From = p.name("a collection")
	for p.getClause(g, w) {
	}
	if p.is("lookup") {
		w[clauseLookup] = p.tok
		g.Lookup = p.lookups(g.From.Text)
	}
	p.checkGet(g, w)
	return g
}

// getClause reads one clause but a lookup, and reports whether there was one.
func (p *parser) getClause(g *Get, w *written) bool {
	at := p.tok
	switch {
	case p.accept("select"):
		w[clauseSelect] = at
		p.selectList(g)
	case p.accept("where"):
		g.Where, _ = p.plain("where")
	case p.accept("having"):
		w[clauseHaving] = at
		g.Having, _ = p.expr()
	case p.accept("order"):
		w[clauseOrder] = at
		g.Order = append(g.Order, p.keys(&w[clauseOrderCall])...)
	case p.accept("limit"):
		w[clauseLimit] = at
		g.Limit = p.whole()
	case p.accept("offset"):
		w[clauseOffset] = at
		g.Offset = p.whole()
	case p.accept("count"):
		w[clauseCount] = at
		g.Count = true
	case p.accept("require"):
		w[clauseRequire] = at
		g.Require = p.whole()
	case p.accept("facet"):
		w[clauseFacet] = at
		g.Facets = p.facets()
	case p.accept("group"):
		w[clauseGroup] = at
		g.Group = p.group()
	default:
		return p.scoreClause(g, w)
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
	t := p.third()
	return t.kind == tokenWord && !p.isClause(&t)
}
