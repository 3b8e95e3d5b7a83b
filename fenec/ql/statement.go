package ql

// statementWords are the words that a statement may start with.
var statementWords = [...]string{
	"get", "select", "put", "insert", "set", "update", "del", "delete",
	"create", "drop", "alter", "explain", "collections", "describe", "compact",
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
		return p.get(new(written))
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
	case p.accept("alter"):
		return p.alter()
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
	return &Explain{Get: p.get(new(written))}
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
