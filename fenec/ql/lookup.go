package ql

import "slices"

// lookups reads a chain of lookups below the collection root.
func (p *parser) lookups(root string) *Lookup {
	chain := make([]string, 1, maxLookups+1)
	chain[0] = root
	var top *Lookup
	for next := &top; p.is("lookup"); {
		if len(chain) > maxLookups {
			p.fail(&p.tok, "more than 8 lookups in a chain")
			break
		}
		p.advance()
		l := p.lookup(chain)
		chain = append(chain, l.Collection.Text)
		*next, next = l, &l.Lookup
	}
	return top
}

// lookup reads what follows "lookup", up to the next one. chain names the
// collections above.
func (p *parser) lookup(chain []string) *Lookup {
	at := p.tok
	l := &Lookup{Collection: p.name("a collection")}
	if slices.Contains(chain, l.Collection.Text) {
		p.fail(&at, "the collection "+quote(l.Collection.Text)+" comes twice in a chain of lookups")
	}
	p.expect("on")
	l.On = p.name("a field")
	if p.acceptPunct('=') {
		l.Parent = p.name("a field")
	}
	for p.lookupClause(l) {
	}
	return l
}

// lookupClause reads one clause, and reports whether there was one.
func (p *parser) lookupClause(l *Lookup) bool {
	switch {
	case p.pick(&l.Where, &l.Order, &l.Limit):
	case p.accept("select"):
		l.Star, l.Columns = p.pathList()
	case p.accept("offset"):
		l.Offset = p.whole()
	case p.accept("required"):
		l.Required = true
	default:
		return false
	}
	return true
}
