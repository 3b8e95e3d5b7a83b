package ql

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
	p.absent(s)
	if p.accept("require") {
		s.Require = p.whole()
	}
	return s
}

// absent reads the clause of a put that says what becomes of documents that
// are there.
func (p *parser) absent(s *Put) {
	if p.is("else") {
		p.fail(&p.tok, `else without "if absent"`)
	}
	if !p.accept("if") {
		return
	}
	p.expect("absent")
	s.IfAbsent = true
	if p.accept("else") {
		p.expect("set")
		s.HasElse = true
		s.ElseSet = p.document()
	}
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
	pair.Value, _ = p.plain("a document")
	return pair
}

func (p *parser) set() *Set {
	s := &Set{Name: p.name("a collection")}
	p.accept("set")
	s.Pairs = p.document()
	for p.pick(&s.Where, &s.Order, &s.Limit) || p.outcome(&s.Returning, &s.Require) {
	}
	return s
}

func (p *parser) del() *Del {
	p.acceptBefore("from")
	s := &Del{From: p.name("a collection")}
	for p.pick(&s.Where, &s.Order, &s.Limit) || p.outcome(&s.Returning, &s.Require) {
	}
	return s
}

// pick reads one of the clauses that pick documents, and reports whether
// there was one. A later clause replaces an earlier one, but the keys of all
// order clauses count.
func (p *parser) pick(where *Expr, order *[]Key, limit **int64) bool {
	switch {
	case p.accept("where"):
		*where, _ = p.plain("where")
	case p.accept("order"):
		*order = append(*order, p.keys(nil)...)
	case p.accept("limit"):
		*limit = p.whole()
	default:
		return false
	}
	return true
}

// outcome reads one of the clauses about the documents that were written, and
// reports whether there was one.
func (p *parser) outcome(returning **Returning, require **int64) bool {
	switch {
	case p.accept("returning"):
		r := &Returning{}
		r.Star, r.Paths = p.pathList()
		*returning = r
	case p.accept("require"):
		*require = p.whole()
	default:
		return false
	}
	return true
}
