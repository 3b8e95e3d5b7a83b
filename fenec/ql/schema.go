package ql

// create reads what follows "create".
func (p *parser) create() Statement {
	switch {
	case p.accept("collection"):
		return p.createCollection()
	case p.accept("index"):
		return p.createIndex()
	}
	p.expected(`"collection" or "index"`)
	return nil
}

// ifNotExists reads these words if they come next.
func (p *parser) ifNotExists() bool {
	if !p.is("if") || !p.lex.is(&p.ahead, "not") {
		return false
	}
	p.advance()
	p.advance()
	p.expect("exists")
	return true
}

func (p *parser) createCollection() *CreateCollection {
	s := &CreateCollection{IfNotExists: p.ifNotExists(), Name: p.name("a collection")}
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

func (p *parser) createIndex() *CreateIndex {
	s := &CreateIndex{IfNotExists: p.ifNotExists()}
	p.expect("on")
	s.On = p.name("a collection")
	p.expectPunct('(')
	s.Path = p.fieldPath()
	p.expectPunct(')')
	s.Index = *p.index()
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
		case p.accept("collate"):
			f.Collate = p.collation()
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
	if t.Kind = p.typeKind(&p.tok); t.Kind == 0 {
		p.expected("a type")
	}
	p.advance()
	if t.Kind == TypeVector || t.Kind == TypeSparse {
		p.dimension(&t)
	}
	return t
}

// typeKind returns the type whose word the token is, or 0.
func (p *parser) typeKind(t *token) TypeKind {
	for _, w := range typeWords {
		if p.lex.is(t, w.word) {
			return w.kind
		}
	}
	return 0
}

var typeWords = [...]struct {
	word string
	kind TypeKind
}{
	{"bool", TypeBool},
	{"int", TypeInt},
	{"float", TypeFloat},
	{"text", TypeText}, {"string", TypeText},
	{"bytes", TypeBytes}, {"blob", TypeBytes},
	{"timestamp", TypeTimestamp}, {"timestamptz", TypeTimestamp},
	{"json", TypeJSON}, {"jsonb", TypeJSON},
	{"vector", TypeVector}, {"vec", TypeVector},
	{"sparse", TypeSparse}, {"sparsevec", TypeSparse},
	{"geo", TypeGeo},
}

// dimension reads what follows "vector" or "sparse".
func (p *parser) dimension(t *TypeDef) {
	p.expectPunct('<')
	t.Dim = p.integer("a number of components")
	if t.Kind == TypeVector && p.acceptPunct(',') && !p.accept("f32") {
		if !p.accept("f16") {
			p.expected(`"f32" or "f16"`)
		}
		t.Half = true
	}
	p.expectPunct('>')
}
