package ql

// alter reads what follows "alter".
func (p *parser) alter() *AlterCollection {
	p.expect("collection")
	s := &AlterCollection{Name: p.name("a collection")}
	switch {
	case p.accept("add"):
		s.Kind = AlterAdd
		p.fieldBeforeType()
		f := p.field()
		s.Add = &f
	case p.accept("drop"):
		s.Kind = AlterDrop
		p.acceptBefore("field")
		s.Field = p.name("a field")
	case p.accept("rename"):
		s.Kind = AlterRename
		p.fieldBeforeTo()
		if p.is("to") && !p.lex.is(&p.ahead, "to") {
			p.expected("a field") // before this "to"
		}
		s.Field = p.name("a field")
		p.expect("to")
		s.To = p.name("a field")
	case p.accept("alter"):
		s.Kind = AlterIndex
		p.acceptBefore("field")
		s.Field = p.name("a field")
		s.Index = p.orderedIndex()
	default:
		p.expected(`"add", "drop", "rename" or "alter"`)
	}
	return s
}

// fieldBeforeType reads the optional word "field". It is the name itself where
// no name and type follow.
func (p *parser) fieldBeforeType() {
	if !p.is("field") || p.ahead.kind != tokenWord {
		return
	}
	if t := p.third(); t.kind == '[' || p.typeKind(&t) != 0 {
		p.advance()
	}
}

// fieldBeforeTo reads the optional word "field". It is the name itself where
// "to" and the new name follow.
func (p *parser) fieldBeforeTo() {
	if !p.is("field") || p.ahead.kind != tokenWord {
		return
	}
	if !p.lex.is(&p.ahead, "to") {
		p.advance()
		return
	}
	rest := p.lex
	t := rest.next()
	if !p.lex.is(&t, "to") {
		return
	}
	if t = rest.next(); t.kind == tokenWord {
		p.advance()
	}
}

// orderedIndex reads the annotation of an index that a field's index can become.
func (p *parser) orderedIndex() *IndexDef {
	at := p.ahead
	x := p.index()
	if x.Kind != IndexTTL && x.Kind != IndexSorted {
		p.fail(&at, `expected "ttl" or "sorted"`)
	}
	return x
}
