package ql

// call reads a call of a function.
func (p *parser) call() (Expr, int) {
	word := p.tok
	name := p.name("a function's name")
	if markKind(name.Text) != 0 {
		p.fail(&word, name.Text+" stands only as a column of its own")
	}
	at := p.next()
	p.term()
	c := &Call{Pos: name.Pos, Name: name.Text}
	inside := p.aggregates
	levels := p.arguments(c)
	p.checkCall(c, &word, inside)
	return c, p.above(levels, &at)
}

// arguments reads the arguments of c and the closing parenthesis.
func (p *parser) arguments(c *Call) int {
	p.enter(&p.last)
	defer p.leave()
	if p.acceptPunct('*') {
		c.Star = true
		p.expectPunct(')')
		return 0
	}
	c.Distinct = isWord(c.Name, "count") && p.accept("distinct")
	takesBy := isWord(c.Name, "first") || isWord(c.Name, "last")
	takesDuration := isWord(c.Name, "bucket")
	var (
		list   gather[Expr]
		levels int
	)
	for p.tok.kind != ')' {
		if takesDuration && len(list.last) == 1 && p.atDuration() {
			list.add(p.duration())
		} else {
			e, n := p.expr()
			list.add(e)
			levels = max(levels, n)
		}
		if takesBy && c.By == nil && p.accept("by") {
			e, n := p.expr()
			c.By = e
			levels = max(levels, n)
		}
		if !p.acceptPunct(',') {
			break
		}
	}
	p.expectPunct(')')
	c.Args = list.items()
	return levels
}

// checkCall checks the form of a call, whose name is the token word. inside is
// the number of aggregates before the arguments.
func (p *parser) checkCall(c *Call, word *token, inside int) {
	counts := isWord(c.Name, "count")
	if c.Star && !counts {
		p.fail(word, `"*" stands in count alone, not in `+quote(c.Name))
	}
	if !IsAggregate(c.Name) {
		return
	}
	switch {
	case p.aggregates > inside:
		p.fail(&p.aggregate, "an aggregate inside the aggregate "+quote(c.Name))
	case counts && c.Distinct != (len(c.Args) == 1) || counts && len(c.Args) > 1:
		p.fail(word, `count takes "*", nothing, or "distinct" and one argument`)
	case !counts && len(c.Args) != 1:
		p.fail(word, quote(c.Name)+" takes one argument")
	}
	p.aggregates = inside + 1
	p.aggregate = *word
}

// plain reads an expression that holds no aggregate, for the clause where.
func (p *parser) plain(where string) (Expr, int) {
	before := p.aggregates
	e, levels := p.expr()
	if p.aggregates > before {
		p.fail(&p.aggregate, "the aggregate "+quote(p.text(&p.aggregate))+" does not stand in "+where)
	}
	return e, levels
}

// atDuration reports whether an integer and a word come next, and then the
// argument's end: "1 has" may begin an expression.
func (p *parser) atDuration() bool {
	if p.tok.kind != tokenInt || p.ahead.kind != tokenWord || p.ahead.dotted {
		return false
	}
	t := p.third()
	return t.kind == ',' || t.kind == ')'
}

// duration reads an integer and its unit.
func (p *parser) duration() *Duration {
	at := p.tok.pos
	n := p.integer("a number")
	return &Duration{Pos: at, N: n, Unit: p.name("a unit").Text}
}
