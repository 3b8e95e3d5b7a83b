package ql

// statementWords are the words that a statement may start with.
var statementWords = [...]string{
	"get", "select", "put", "insert", "set", "update", "del", "delete",
	"create", "drop", "explain", "collections", "describe", "compact",
}

// atStatement reports whether a word that starts a statement comes next.
func (p *parser) atStatement() bool {
	for _, w := range statementWords {
		if p.is(w) {
			return true
		}
	}
	return false
}

// statement reads a statement.
func (p *parser) statement() Statement {
	switch {
	case p.accept("get"), p.accept("select"):
		return p.get()
	case p.accept("put"):
		return p.put(false)
	case p.accept("insert"):
		return p.put(true)
	case p.accept("set"), p.accept("update"):
		return p.set()
	case p.accept("del"), p.accept("delete"):
		return p.del()
	case p.accept("create"):
		return p.create()
	case p.accept("drop"):
		return p.drop()
	case p.accept("explain"):
		return p.explain()
	case p.accept("collections"):
		return &Collections{}
	case p.accept("describe"):
		return &Describe{Name: p.name("a collection")}
	case p.accept("compact"):
		return p.compact()
	}
	p.noStatement()
	return nil
}

// noStatement fails because no statement comes next.
func (p *parser) noStatement() {
	if p.last.kind == tokenEnd || p.tok.kind == tokenEnd {
		p.expected("a statement")
		return
	}
	p.unexpected()
}

func (p *parser) explain() *Explain {
	if !p.accept("get") && !p.accept("select") {
		p.expected(`"get"`)
	}
	return &Explain{Get: p.get()}
}

// compact reads what follows "compact". A word that starts a statement is the
// name of a collection only where the text ends with it.
func (p *parser) compact() *Compact {
	c := &Compact{}
	if p.tok.kind == tokenWord && (p.ahead.kind == tokenEnd || !p.atStatement()) {
		c.Name = p.name("a collection")
	}
	return c
}

func (p *parser) put(insert bool) *Put {
	p.acceptBefore("into")
	s := &Put{Insert: insert, Into: p.name("a collection")}
	switch p.tok.kind {
	case tokenParam:
		s.Param = p.param()
	case '[':
		s.Docs = p.documentList()
	case '{':
		s.Docs = p.documents()
	default:
		p.expected("a document")
	}
	return s
}

// documents reads documents as long as there are any.
func (p *parser) documents() []Document {
	var docs gather[Document]
	for p.tok.kind == '{' {
		docs.add(p.document())
	}
	return docs.items()
}

// documentList reads documents in brackets, at least one.
func (p *parser) documentList() []Document {
	p.advance()
	var docs gather[Document]
	docs.add(p.document())
	for p.acceptPunct(',') && p.tok.kind != ']' {
		docs.add(p.document())
	}
	p.expectPunct(']')
	return docs.items()
}

// document reads the pairs of a document in their braces.
func (p *parser) document() Document {
	if !p.acceptPunct('{') {
		p.expected("a document")
	}
	var doc gather[Pair]
	for p.tok.kind != '}' {
		doc.add(p.pair())
		if !p.acceptPunct(',') {
			break
		}
	}
	p.expectPunct('}')
	return doc.items()
}

func (p *parser) pair() Pair {
	var pair Pair
	switch p.tok.kind {
	case tokenWord:
		pair.Path = p.path()
	case tokenString:
		pair.Path.Pos = p.tok.pos
		pair.Path.Field = p.str()
	default:
		p.expected("a field")
	}
	p.expectPunct(':')
	pair.Value, _ = p.expr()
	return pair
}

func (p *parser) set() *Set {
	s := &Set{Name: p.name("a collection")}
	p.accept("set")
	s.Pairs = p.document()
	for p.clause(&s.Where, &s.Order, &s.Limit) {
	}
	return s
}

func (p *parser) del() *Del {
	p.acceptBefore("from")
	s := &Del{From: p.name("a collection")}
	for p.clause(&s.Where, &s.Order, &s.Limit) {
	}
	return s
}

// clause reads one of the clauses that pick documents, and reports whether
// there was one. A later clause replaces an earlier one, but the keys of all
// order clauses count.
func (p *parser) clause(where *Expr, order *[]Key, limit **int64) bool {
	switch {
	case p.accept("where"):
		*where, _ = p.expr()
	case p.accept("order"):
		p.acceptBefore("by")
		*order = append(*order, p.keys()...)
	case p.accept("limit"):
		*limit = p.count()
	default:
		return false
	}
	return true
}

// count reads the number of a limit or an offset.
func (p *parser) count() *int64 {
	n := p.integer("a whole number")
	return &n
}

// keys reads sort keys.
func (p *parser) keys() []Key {
	var keys gather[Key]
	for {
		keys.add(p.sortKey())
		if !p.acceptPunct(',') {
			return keys.items()
		}
	}
}

func (p *parser) sortKey() Key {
	if p.tok.kind != tokenWord {
		p.expected("a field")
		return Key{}
	}
	p.term()
	k := Key{Path: p.path()}
	if !p.accept("asc") {
		k.Desc = p.accept("desc")
	}
	return k
}
