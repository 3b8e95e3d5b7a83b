package ql

import "strconv"

func (p *printer) createCollection(s *CreateCollection) {
	p.str("create collection")
	if s.IfNotExists {
		p.str(" if not exists")
	}
	p.name(s.Name)
	p.str(" (")
	for i := range s.Fields {
		p.comma(i)
		p.field(&s.Fields[i])
	}
	p.str(")")
}

func (p *printer) createIndex(s *CreateIndex) {
	p.str("create index")
	if s.IfNotExists {
		p.str(" if not exists")
	}
	p.str(" on")
	p.name(s.On)
	p.str(" (")
	p.path(&s.Path)
	p.str(")")
	p.index(&s.Index)
}

// alter prints the optional word "field", as a field may be called so.
func (p *printer) alter(s *AlterCollection) {
	p.str("alter collection")
	p.name(s.Name)
	p.str(" ")
	p.str(s.Kind.String())
	p.str(" field")
	switch s.Kind {
	case AlterAdd:
		p.str(" ")
		p.field(s.Add)
	case AlterDrop:
		p.name(s.Field)
	case AlterRename:
		p.name(s.Field)
		p.str(" to")
		p.name(s.To)
	case AlterIndex:
		p.name(s.Field)
		p.index(s.Index)
	}
}

func (p *printer) field(f *FieldDef) {
	p.str(f.Name.Text)
	p.str(" ")
	p.str(f.Type.String())
	if f.Required {
		p.str(" required")
	}
	if f.Collate != "" {
		p.str(" collate ")
		p.str(f.Collate)
	}
	if f.Index != nil {
		p.index(f.Index)
	}
}

// index appends a blank and an index annotation.
func (p *printer) index(x *IndexDef) {
	p.str(" @")
	p.str(x.Kind.String())
	switch x.Kind {
	case IndexTTL:
		p.str("(")
		p.duration(x.TTL)
		p.str(")")
	case IndexHNSW:
		p.hnsw(x.HNSW)
	case IndexText:
		p.text(x.Text)
	}
}

func (p *printer) hnsw(x *HNSWDef) {
	p.str("(")
	p.str(x.Metric)
	for _, o := range [...]struct {
		name string
		n    int64
	}{{"m", x.M}, {"ef_construction", x.EFConstruction}, {"ef_search", x.EFSearch}} {
		if o.n != 0 {
			p.str(", " + o.name + "=")
			p.int(o.n)
		}
	}
	if x.Quant != "" {
		p.str(", quant=" + x.Quant)
	}
	p.str(")")
}

func (p *printer) text(x *TextDef) {
	open := len(p.buf)
	option := func(name string) {
		if len(p.buf) == open {
			p.str("(")
		} else {
			p.str(", ")
		}
		p.str(name)
	}
	if x.K1 != nil {
		option("k1=")
		p.float(*x.K1)
	}
	if x.B != nil {
		option("b=")
		p.float(*x.B)
	}
	if x.Prefix != nil {
		option("prefix=")
		p.int(*x.Prefix)
	}
	if x.PrefixMin != nil {
		option("prefix_min=")
		p.int(*x.PrefixMin)
	}
	if x.Chars {
		option("chars")
	}
	if len(p.buf) > open {
		p.str(")")
	}
}

// String returns the type as a declaration writes it, such as vector<3, f16>.
func (t *TypeDef) String() string {
	switch t.Kind {
	case TypeList:
		return "[" + t.Elem.String() + "]"
	case TypeSparse:
		return "sparse<" + strconv.FormatInt(t.Dim, 10) + ">"
	case TypeVector:
		half := ""
		if t.Half {
			half = ", f16"
		}
		return "vector<" + strconv.FormatInt(t.Dim, 10) + half + ">"
	}
	return t.Kind.String()
}
