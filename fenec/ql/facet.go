package ql

// Bounds of a facet.
const (
	maxTop    = 10000
	minRanges = 2 // bounds of ranges, not ranges
	maxRanges = 10001
)

// facets reads what follows "facet".
func (p *parser) facets() []Facet {
	var list gather[Facet]
	seen := make(map[string]bool)
	for {
		at := p.tok
		f := p.facet()
		path := f.Path.String()
		if seen[path] {
			p.fail(&at, "a second facet of "+quote(path))
		}
		seen[path] = true
		list.add(f)
		if !p.acceptPunct(',') {
			return list.items()
		}
	}
}

func (p *parser) facet() Facet {
	f := Facet{Path: p.fieldPath()}
	if p.accept("top") {
		f.Top = p.between(1, maxTop)
	}
	at := p.tok
	if p.accept("ranges") {
		if f.Top != nil {
			p.fail(&at, "top and ranges do not stand in one facet")
		}
		f.Ranges = p.ranges()
	}
	f.Disjunctive = p.accept("disjunctive")
	return f
}

// ranges reads the bounds of ranges in their brackets.
func (p *parser) ranges() []*Literal {
	open := p.tok
	p.expectPunct('[')
	var list []*Literal
	for {
		at := p.tok
		bound := p.signed()
		if n := len(list); n > 0 && bound != nil && !rises(list[n-1], bound) {
			p.fail(&at, "each bound of ranges is above the one before")
		}
		list = append(list, bound)
		if len(list) > maxRanges {
			p.fail(&at, "ranges of more than 10001 bounds")
		}
		if !p.acceptPunct(',') {
			break
		}
	}
	p.expectPunct(']')
	if len(list) < minRanges {
		p.fail(&open, "ranges of fewer than 2 bounds")
	}
	return list
}

// rises reports whether the number b is above a. Integers are compared
// exactly, others as floats.
func rises(a, b *Literal) bool {
	if a.Kind == Int && b.Kind == Int {
		return a.Int < b.Int
	}
	return a.float() < b.float()
}

// float returns a number as a float.
func (l *Literal) float() float64 {
	if l.Kind == Int {
		return float64(l.Int)
	}
	return l.Float
}
