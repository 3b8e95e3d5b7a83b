package ql

// A clause is a clause of a get, or a part of one that goes by rules of its
// own. Those that go with every other are not listed.
type clause uint8

const (
	clauseSelect clause = iota
	clauseNear
	clauseMatch
	clauseRerank
	clauseFuse
	clauseGroup
	clauseHaving
	clauseOrder
	clauseOrderCall // an aggregate among the sort keys
	clauseLimit
	clauseOffset
	clauseCount
	clauseRequire
	clauseFacet
	clauseLookup
	clauseKinds
)

// String returns the clause's words, as an error shows them.
func (c clause) String() string { return wordAt(clauseNames[:], int(c)) }

var clauseNames = [...]string{
	clauseSelect:    "select",
	clauseNear:      "near",
	clauseMatch:     "match",
	clauseRerank:    "rerank",
	clauseFuse:      "fuse",
	clauseGroup:     "group",
	clauseHaving:    "having",
	clauseOrder:     "order",
	clauseOrderCall: "order by an aggregate",
	clauseLimit:     "limit",
	clauseOffset:    "offset",
	clauseCount:     "count",
	clauseRequire:   "require",
	clauseFacet:     "facet",
	clauseLookup:    "lookup",
}

// written tells where the clauses of one get were written: for each the word
// that starts it, or the zero token.
type written [clauseKinds]token

func (w *written) has(c clause) bool { return w[c].kind != tokenEnd }

// needs are the clauses that stand only beside another.
var needs = [...]struct{ clause, other clause }{
	{clauseHaving, clauseGroup},
	{clauseOrderCall, clauseGroup},
	{clauseRerank, clauseMatch},
	{clauseFuse, clauseMatch},
	{clauseFuse, clauseNear},
}

// conflicts are the clauses that never stand beside each other. Rerank and fuse
// need match, so that what conflicts with match conflicts with them as well.
var conflicts = [...]struct{ a, b clause }{
	{clauseNear, clauseOrder},
	{clauseNear, clauseGroup},
	{clauseNear, clauseFacet},
	{clauseNear, clauseLookup},
	{clauseMatch, clauseOrder},
	{clauseMatch, clauseGroup},
	{clauseMatch, clauseLookup},
	{clauseRerank, clauseFuse},
	{clauseGroup, clauseFacet},
	{clauseGroup, clauseLookup},
	{clauseCount, clauseNear},
	{clauseCount, clauseMatch},
	{clauseCount, clauseOrder},
	{clauseCount, clauseLimit},
	{clauseCount, clauseOffset},
	{clauseCount, clauseRequire},
}

// maxScored bounds the rows that near and match find, those passed over by an
// offset included.
const maxScored = 10000

// checkGet checks what no clause of g shows alone. It does not look into the
// select list: whether that holds aggregates or marks makes no difference here.
func (p *parser) checkGet(g *Get, w *written) {
	for _, n := range needs {
		if w.has(n.clause) && !w.has(n.other) {
			p.fail(&w[n.clause], n.clause.String()+" without "+n.other.String())
		}
	}
	for _, c := range conflicts {
		p.apart(w, c.a, c.b)
	}
	if !w.has(clauseFuse) {
		p.apart(w, clauseNear, clauseMatch)
	}
	if !w.has(clauseGroup) {
		p.apart(w, clauseCount, clauseSelect)
	}
	if w.has(clauseCount) && g.Lookup != nil && !g.Lookup.Required {
		p.fail(&w[clauseLookup], "count beside a lookup that is not required")
	}
	p.checkPage(g, w)
}

// apart checks that at most one of two clauses was written. The later one is
// in the wrong.
func (p *parser) apart(w *written, a, b clause) {
	if !w.has(a) || !w.has(b) {
		return
	}
	at := &w[a]
	if at.start < w[b].start {
		at = &w[b]
	}
	p.fail(at, a.String()+" and "+b.String()+" do not stand in one get")
}

// checkPage checks the page of a get that scores its rows.
func (p *parser) checkPage(g *Get, w *written) {
	if g.Near == nil && g.Match == nil {
		return
	}
	last := int64(0)
	for _, c := range [...]struct {
		clause clause
		n      *int64
	}{{clauseLimit, g.Limit}, {clauseOffset, g.Offset}} {
		if c.n == nil {
			continue
		}
		if *c.n > maxScored-last {
			p.fail(&w[c.clause], "near and match find 10000 rows at most, limit and offset added up")
			return
		}
		last += *c.n
	}
}

// checkInner checks a get inside "in", which at starts.
func (p *parser) checkInner(g *Get, w *written, at *token) {
	for _, c := range [...]clause{clauseCount, clauseRequire, clauseFacet, clauseLookup} {
		if w.has(c) {
			p.fail(&w[c], c.String()+` does not stand in a get inside "in"`)
		}
	}
	if g.Star || len(g.Columns) != 1 || !yieldsValues(g.Columns[0].Expr) {
		p.fail(at, `a get inside "in" yields one column: a field, a path or an aggregate`)
	}
}

// yieldsValues reports whether e can be the one column of a get inside "in".
func yieldsValues(e Expr) bool {
	switch e := e.(type) {
	case *Path:
		return true
	case *Call:
		return IsAggregate(e.Name)
	}
	return false
}
