package ql

// get prints the columns as a clause: which words a select list before "from"
// may start with depends on what follows them.
func (p *printer) get(g *Get) {
	p.str("get")
	p.from(g.From)
	p.columns(g)
	p.where(g.Where)
	p.score(g)
	for i, e := range g.Group {
		p.item(i, "group by")
		p.expr(e, lowest)
	}
	if g.Having != nil {
		p.word("having ")
		p.expr(g.Having, lowest)
	}
	p.order(g.Order)
	p.number("limit", g.Limit)
	p.number("offset", g.Offset)
	if g.Count {
		p.word("count")
	}
	p.number("require", g.Require)
	for i := range g.Facets {
		p.item(i, "facet")
		p.facet(&g.Facets[i])
	}
	for l := g.Lookup; l != nil; l = l.Lookup {
		p.lookup(l)
	}
}

// item appends what stands before item i of a clause.
func (p *printer) item(i int, clause string) {
	if i == 0 {
		p.word(clause)
	} else {
		p.str(",")
	}
	p.str(" ")
}

// number appends a clause of a number, if it was written.
func (p *printer) number(clause string, n *int64) {
	if n != nil {
		p.word(clause)
		p.str(" ")
		p.int(*n)
	}
}

func (p *printer) columns(g *Get) {
	if g.Star {
		p.word("select *")
	}
	for i := range g.Columns {
		c := &g.Columns[i]
		if g.Star {
			p.str(", ")
		} else {
			p.item(i, "select")
		}
		if c.Mark != nil {
			p.mark(c.Mark)
			continue
		}
		p.expr(c.Expr, lowest)
		if c.As.Text != "" {
			p.word("as")
			p.name(c.As)
		}
	}
}

func (p *printer) mark(m *Mark) {
	p.str(m.Kind.String())
	p.str("(")
	p.str(m.Field.Text)
	if m.Kind == MarkSnippet {
		p.str(", ")
		p.int(m.Words)
	}
	for _, e := range m.Args {
		p.str(", ")
		p.expr(e, lowest)
	}
	p.str(")")
}

// score prints the clauses that give rows a score.
func (p *printer) score(g *Get) {
	if n := g.Near; n != nil {
		p.measure("near", n.Field, n.Vector)
		p.number("ef", n.EF)
		if n.Exact {
			p.word("exact")
		}
	}
	if m := g.Match; m != nil {
		p.measure("match", m.Field, m.Query)
	}
	if r := g.Rerank; r != nil {
		p.measure("rerank", r.Field, r.Vector)
		p.number("candidates", r.Candidates)
	}
	if f := g.Fuse; f != nil {
		p.word("fuse")
		p.number("k", f.K)
		p.number("candidates", f.Candidates)
	}
}

// measure prints what a field is measured against.
func (p *printer) measure(clause string, field Name, e Expr) {
	p.word(clause)
	p.name(field)
	p.str(" ")
	p.expr(e, lowest)
}

func (p *printer) facet(f *Facet) {
	p.path(&f.Path)
	p.number("top", f.Top)
	for i, l := range f.Ranges {
		if i == 0 {
			p.str(" ranges [")
		}
		p.comma(i)
		p.literal(l)
	}
	if len(f.Ranges) > 0 {
		p.str("]")
	}
	if f.Disjunctive {
		p.str(" disjunctive")
	}
}

func (p *printer) lookup(l *Lookup) {
	p.word("lookup")
	p.name(l.Collection)
	p.str(" on")
	p.name(l.On)
	if l.Parent.Text != "" {
		p.str(" =")
		p.name(l.Parent)
	}
	if l.Star {
		p.str(" select *")
	}
	p.paths("select", l.Columns)
	p.pick(l.Where, l.Order, l.Limit)
	p.number("offset", l.Offset)
	if l.Required {
		p.word("required")
	}
}

// paths appends a clause of paths, if there are any.
func (p *printer) paths(clause string, paths []Path) {
	for i := range paths {
		p.item(i, clause)
		p.path(&paths[i])
	}
}

// pick prints the clauses that pick documents.
func (p *printer) pick(where Expr, order []Key, limit *int64) {
	p.where(where)
	p.order(order)
	p.number("limit", limit)
}

func (p *printer) where(e Expr) {
	if e != nil {
		p.word("where ")
		p.expr(e, lowest)
	}
}

func (p *printer) order(keys []Key) {
	for i := range keys {
		k := &keys[i]
		p.item(i, "order by")
		if k.Call != nil {
			p.call(k.Call)
		} else {
			p.path(&k.Path)
		}
		if k.Collate != "" {
			p.str(" collate ")
			p.str(k.Collate)
		}
		if k.Desc {
			p.str(" desc")
		}
	}
}

// outcome prints the clauses about the documents that were written.
func (p *printer) outcome(r *Returning, require *int64) {
	if r != nil {
		if r.Star {
			p.word("returning *")
		}
		p.paths("returning", r.Paths)
	}
	p.number("require", require)
}
