package ql

import (
	"math"
	"strconv"
)

// index reads an index annotation.
func (p *parser) index() *IndexDef {
	x := &IndexDef{Pos: p.tok.pos}
	p.expectPunct('@')
	if x.Kind = p.indexKind(); x.Kind == 0 {
		p.expected("a kind of index")
	}
	p.advance()
	switch x.Kind {
	case IndexTTL:
		x.TTL = p.period()
	case IndexHNSW:
		x.HNSW = &HNSWDef{Metric: "cosine"}
		p.options(func() { p.hnswOption(x.HNSW) })
	case IndexText:
		x.Text = &TextDef{}
		p.options(func() { p.textOption(x.Text) })
	}
	return x
}

// indexKind returns the index whose word comes next, or 0.
func (p *parser) indexKind() IndexKind {
	for _, w := range indexWords {
		if p.is(w.word) {
			return w.kind
		}
	}
	return 0
}

var indexWords = [...]struct {
	word string
	kind IndexKind
}{
	{"hash", IndexHash},
	{"unique", IndexUnique},
	{"sorted", IndexSorted},
	{"inverted", IndexInverted},
	{"geo", IndexGeo},
	{"ttl", IndexTTL},
	{"hnsw", IndexHNSW}, {"vector", IndexHNSW},
	{"text", IndexText}, {"bm25", IndexText},
}

// period reads the period of an IndexTTL in its parentheses.
func (p *parser) period() *Duration {
	p.expectPunct('(')
	d := &Duration{Pos: p.tok.pos, N: *p.between(1, math.MaxInt64)}
	for _, unit := range [...]string{"ms", "s", "m", "h", "d"} {
		if p.accept(unit) {
			d.Unit = unit
			break
		}
	}
	if d.Unit == "" {
		p.expected("a unit, one of ms, s, m, h and d")
	}
	p.expectPunct(')')
	return d
}

// options reads the options of an index in their parentheses, if any come
// next. A later option replaces an earlier one.
func (p *parser) options(option func()) {
	if !p.acceptPunct('(') {
		return
	}
	for p.tok.kind != ')' {
		option()
		if !p.acceptPunct(',') {
			break
		}
	}
	p.expectPunct(')')
}

func (p *parser) hnswOption(x *HNSWDef) {
	switch {
	case p.accept("cosine"), p.accept("cos"):
		x.Metric = "cosine"
	case p.accept("l2"), p.accept("euclidean"):
		x.Metric = "l2"
	case p.accept("dot"), p.accept("ip"):
		x.Metric = "dot"
	case p.accept("m"):
		x.M = p.size()
	case p.accept("ef_construction"), p.accept("ef_c"):
		x.EFConstruction = p.size()
	case p.accept("ef_search"), p.accept("ef"):
		x.EFSearch = p.size()
	case p.accept("quant"):
		p.expectPunct('=')
		x.Quant = p.quant()
	default:
		p.expected("an option of the index")
	}
}

// size reads "=" and a number from 1.
func (p *parser) size() int64 {
	p.expectPunct('=')
	return *p.between(1, math.MaxInt64)
}

// quant reads a way to shorten vectors.
func (p *parser) quant() string {
	switch {
	case p.accept("int8"), p.accept("i8"):
		return "int8"
	case p.accept("bit"), p.accept("binary"):
		return "bit"
	case p.accept("none"):
		return ""
	}
	p.expected("int8, bit or none")
	return ""
}

func (p *parser) textOption(x *TextDef) {
	switch {
	case p.accept("chars"):
		x.Chars = true
	case p.accept("k1"):
		x.K1 = p.ratio()
	case p.accept("b"):
		x.B = p.ratio()
	case p.accept("prefix"), p.accept("prefix_max"):
		p.expectPunct('=')
		x.Prefix = p.whole()
	case p.accept("prefix_min"):
		p.expectPunct('=')
		x.PrefixMin = p.whole()
	default:
		p.expected("an option of the index")
	}
}

// ratio reads "=" and a number that is not negative.
func (p *parser) ratio() *float64 {
	p.expectPunct('=')
	if p.tok.kind != tokenInt && p.tok.kind != tokenFloat {
		p.expected("a number")
		return nil
	}
	f, err := strconv.ParseFloat(p.digits(), 64)
	if err != nil {
		p.fail(&p.tok, "a number beyond the range of a float: "+quote(p.text(&p.tok)))
	}
	p.advance()
	return &f
}
