package ql

// create reads what follows "create".
func (p *parser) create() *CreateCollection {
	p.expect("collection")
	s := &CreateCollection{}
	if p.is("if") && p.lex.is(&p.ahead, "not") {
		p.advance()
		p.advance()
		p.expect("exists")
		s.IfNotExists = true
	}
	s.Name = p.name("a collection")
	p.expectPunct('(')
	var fields gather[FieldDef]
	fields.add(p.field())
	for p.acceptPunct(',') && p.tok.kind != ')' {
		fields.add(p.field())
	}
	p.expectPunct(')')
	s.Fields = fields.items()
	return s
}

// drop reads what follows "drop".
func (p *parser) drop() *DropCollection {
	p.expect("collection")
	s := &DropCollection{}
	if p.is("if") && p.lex.is(&p.ahead, "exists") {
		p.advance()
		p.advance()
		s.IfExists = true
	}
	s.Name = p.name("a collection")
	return s
}

// field reads the declaration of a field.
func (p *parser) field() FieldDef {
	p.term()
	f := FieldDef{Name: p.name("a field"), Type: p.fieldType()}
	for {
		switch {
		case p.accept("required"):
			f.Required = true
		case p.tok.kind == '@':
			if f.Index != nil {
				p.fail(&p.tok, "a second index on the field "+quote(f.Name.Text))
			}
			f.Index = p.index()
		default:
			return f
		}
	}
}

func (p *parser) fieldType() TypeDef {
	t := TypeDef{Pos: p.tok.pos}
	if p.tok.kind == '[' {
		p.enter(&p.tok)
		defer p.leave()
		p.advance()
		elem := p.fieldType()
		t.Kind, t.Elem = TypeList, &elem
		p.expectPunct(']')
		return t
	}
	t.Kind = p.typeKind()
	if t.Kind == TypeVector {
		p.dimension(&t)
	}
	return t
}

// typeKind reads the word of a type.
func (p *parser) typeKind() TypeKind {
	kind := TypeKind(0)
	switch {
	case p.is("bool"):
		kind = TypeBool
	case p.is("int"):
		kind = TypeInt
	case p.is("float"):
		kind = TypeFloat
	case p.is("text"), p.is("string"):
		kind = TypeText
	case p.is("bytes"), p.is("blob"):
		kind = TypeBytes
	case p.is("timestamp"), p.is("timestamptz"):
		kind = TypeTimestamp
	case p.is("json"), p.is("jsonb"):
		kind = TypeJSON
	case p.is("vector"), p.is("vec"):
		kind = TypeVector
	default:
		p.expected("a type")
	}
	p.advance()
	return kind
}

// dimension reads what follows "vector".
func (p *parser) dimension(t *TypeDef) {
	p.expectPunct('<')
	t.Dim = p.integer("a number of components")
	if p.acceptPunct(',') && !p.accept("f32") {
		if !p.accept("f16") {
			p.expected(`"f32" or "f16"`)
		}
		t.Half = true
	}
	p.expectPunct('>')
}

// index reads an index annotation.
func (p *parser) index() *IndexDef {
	x := &IndexDef{Pos: p.tok.pos}
	p.advance()
	switch {
	case p.is("hash"):
		x.Kind = IndexHash
	case p.is("unique"):
		x.Kind = IndexUnique
	case p.is("sorted"):
		x.Kind = IndexSorted
	default:
		p.expected("a kind of index")
	}
	p.advance()
	return x
}
