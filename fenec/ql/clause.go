package ql

import (
	"math"
	"strconv"
)

// scoreClause reads a clause of those that give rows a score, and reports
// whether there was one.
func (p *parser) scoreClause(g *Get, w *written) bool {
	at := p.tok
	switch {
	case p.accept("near"):
		w[clauseNear] = at
		g.Near = p.near()
	case p.accept("match"):
		w[clauseMatch] = at
		g.Match = &Match{Field: p.name("a field")}
		g.Match.Query, _ = p.plain("match")
	case p.accept("rerank"):
		w[clauseRerank] = at
		g.Rerank = p.rerank()
	case p.accept("fuse"):
		w[clauseFuse] = at
		g.Fuse = p.fuse()
	default:
		return false
	}
	return true
}

func (p *parser) near() *Near {
	n := &Near{Field: p.name("a field")}
	n.Vector, _ = p.plain("near")
	for {
		switch {
		case p.accept("ef"):
			n.EF = p.between(1, math.MaxInt64)
		case p.accept("exact"):
			n.Exact = true
		default:
			return n
		}
	}
}

func (p *parser) rerank() *Rerank {
	r := &Rerank{Field: p.name("a field")}
	r.Vector, _ = p.plain("rerank")
	if p.accept("candidates") {
		r.Candidates = p.between(1, maxScored)
	}
	return r
}

func (p *parser) fuse() *Fuse {
	f := &Fuse{}
	for {
		switch {
		case p.accept("k"):
			f.K = p.whole()
		case p.accept("candidates"):
			f.Candidates = p.between(1, maxScored)
		default:
			return f
		}
	}
}

// group reads what follows "group".
func (p *parser) group() []Expr {
	if p.ahead.startsValue() {
		p.accept("by")
	}
	var keys gather[Expr]
	for {
		p.term()
		e, _ := p.plain("group")
		keys.add(e)
		if !p.acceptPunct(',') {
			return keys.items()
		}
	}
}

// keys reads what follows "order". Where aggregates can be sorted by, the last
// one is noted in calls, which is else nil.
func (p *parser) keys(calls *token) []Key {
	p.acceptBefore("by")
	var keys gather[Key]
	for {
		keys.add(p.sortKey(calls))
		if !p.acceptPunct(',') {
			return keys.items()
		}
	}
}

func (p *parser) sortKey(calls *token) Key {
	var k Key
	if p.ahead.kind == '(' && calls != nil {
		*calls = p.tok
		k.Call = p.keyCall()
	} else {
		k.Path = p.fieldPath()
	}
	if p.accept("collate") {
		k.Collate = p.collation()
	}
	if !p.accept("asc") {
		k.Desc = p.accept("desc")
	}
	if p.accept("collate") {
		k.Collate = p.collation()
	}
	return k
}

// keyCall reads an aggregate to sort by, of a field or of nothing.
func (p *parser) keyCall() *Call {
	at := p.tok
	e, _ := p.call()
	c := e.(*Call)
	plain := c.By == nil && len(c.Args) <= 1 && (c.Star || len(c.Args) == 1)
	if len(c.Args) == 1 {
		_, field := c.Args[0].(*Path)
		plain = plain && field
	}
	if !plain || !IsAggregate(c.Name) {
		p.fail(&at, "rows are sorted by fields, and groups also by aggregates of a field")
	}
	return c
}

// collation reads the name of a collation.
func (p *parser) collation() string {
	switch {
	case p.accept("und"):
		return "und"
	case p.accept("tr"):
		return "tr"
	}
	p.expected(`a collation, "und" or "tr"`)
	return ""
}

// fieldPath reads a path that is read from.
func (p *parser) fieldPath() Path {
	if p.tok.kind != tokenWord {
		p.expected("a field")
		return Path{}
	}
	p.term()
	return p.path()
}

// pathList reads "*" or paths.
func (p *parser) pathList() (star bool, paths []Path) {
	if p.acceptPunct('*') {
		return true, nil
	}
	var list gather[Path]
	for {
		list.add(p.fieldPath())
		if !p.acceptPunct(',') {
			return false, list.items()
		}
	}
}

// whole reads the number of a clause.
func (p *parser) whole() *int64 {
	n := p.integer("a whole number")
	return &n
}

// between reads the number of a clause that has bounds.
func (p *parser) between(least, most int64) *int64 {
	at := p.tok
	n := p.whole()
	switch {
	case *n < least:
		p.fail(&at, quote(p.text(&p.last))+" is less than "+strconv.FormatInt(least, 10))
	case *n > most:
		p.fail(&at, quote(p.text(&p.last))+" is more than "+strconv.FormatInt(most, 10))
	}
	return n
}
