package ql

// The methods that read expressions return the levels of what they read
// beside it, see maxDepth. They also hold p.depth to the levels around tok:
// the levels that are read count up from the leaves, which bounds the tree; the
// levels around count down from the root, which bounds the parser's own stack.

// expr reads an expression.
func (p *parser) expr() (Expr, int) {
	e, levels := p.and()
	for p.is("or") {
		at := p.next()
		right, n := p.and()
		e, levels = p.binary(OpOr, e, right, max(levels, n), &at)
	}
	return e, levels
}

func (p *parser) and() (Expr, int) {
	e, levels := p.not()
	for p.is("and") {
		at := p.next()
		right, n := p.not()
		e, levels = p.binary(OpAnd, e, right, max(levels, n), &at)
	}
	return e, levels
}

// next reads a token and returns it.
func (p *parser) next() token {
	t := p.tok
	p.advance()
	return t
}

// binary returns the operation of an operator at the token at, and the levels
// up to it.
func (p *parser) binary(op Op, left, right Expr, levels int, at *token) (Expr, int) {
	return &Binary{Op: op, Left: left, Right: right}, p.above(levels, at)
}

// above returns the levels of an expression whose parts have the given levels.
func (p *parser) above(levels int, at *token) int {
	if levels >= maxDepth {
		p.tooDeep(at)
	}
	return levels + 1
}

func (p *parser) not() (Expr, int) {
	if !p.is("not") || !p.ahead.startsValue() {
		return p.comparison()
	}
	at := p.next()
	p.enter(&at)
	defer p.leave()
	x, levels := p.not()
	return &Unary{Op: OpNot, X: x}, p.above(levels, &at)
}

// startsValue reports whether t can be the first token of an expression.
func (t *token) startsValue() bool {
	switch t.kind {
	case tokenWord, tokenInt, tokenFloat, tokenString, tokenParam, '(', '[', '{', '-':
		return true
	}
	return false
}

func (p *parser) comparison() (Expr, int) {
	e, levels := p.sum()
	if op := p.comparisonOp(); op != 0 {
		p.advance()
		right, n := p.sum()
		return &Binary{Op: op, Left: e, Right: right}, max(levels, n)
	}
	switch {
	case p.is("in"):
		return p.in(e, levels)
	case p.is("is"):
		p.advance()
		not := p.accept("not")
		p.expect("null")
		return &IsNull{X: e, Not: not}, levels
	}
	return e, levels
}

// comparisonOp returns the operator of comparison at tok, or 0.
func (p *parser) comparisonOp() Op {
	switch p.tok.kind {
	case '=':
		return OpEq
	case tokenNE:
		return OpNe
	case '<':
		return OpLt
	case tokenLE:
		return OpLe
	case '>':
		return OpGt
	case tokenGE:
		return OpGe
	case '~':
		return OpContains
	case tokenWord:
		if p.is("has") {
			return OpHas
		}
	}
	return 0
}

// in reads "in" and its list or its get, after the operand x.
func (p *parser) in(x Expr, levels int) (Expr, int) {
	p.advance()
	at := p.tok
	if p.acceptPunct('(') {
		return &In{X: x, Get: p.innerGet()}, max(levels, 1)
	}
	p.expectPunct('[')
	list, n := p.exprs(']')
	return &In{X: x, List: list}, max(levels, p.above(n, &at))
}

// innerGet reads a get inside "in", and the closing parenthesis. The levels and
// the aggregates in it are its own.
func (p *parser) innerGet() *Get {
	at := p.tok
	if !p.accept("get") && !p.accept("select") {
		p.expected(`"get"`)
	}
	if p.inner == maxInner {
		p.fail(&at, `get too deep: it is inside more than 4 "in"`)
	}
	depth, aggregates := p.depth, p.aggregates
	p.depth = 0
	p.inner++
	var w written
	g := p.get(&w)
	p.checkInner(g, &w, &at)
	p.inner--
	p.depth, p.aggregates = depth, aggregates
	p.expectPunct(')')
	return g
}

// exprs reads expressions between commas, and the punctuation that closes them;
// the opening one was read.
func (p *parser) exprs(closing tokenKind) ([]Expr, int) {
	p.enter(&p.last)
	defer p.leave()
	var (
		list   gather[Expr]
		levels int
	)
	for p.tok.kind != closing {
		e, n := p.expr()
		list.add(e)
		levels = max(levels, n)
		if !p.acceptPunct(',') {
			break
		}
	}
	p.expectPunct(closing)
	return list.items(), levels
}

func (p *parser) sum() (Expr, int) {
	e, levels := p.product()
	for p.tok.kind == '+' || p.tok.kind == '-' {
		at := p.next()
		op := OpAdd
		if at.kind == '-' {
			op = OpSub
		}
		right, n := p.product()
		e, levels = p.binary(op, e, right, max(levels, n), &at)
	}
	return e, levels
}

func (p *parser) product() (Expr, int) {
	e, levels := p.operand()
	for p.tok.kind == '*' || p.tok.kind == '/' {
		at := p.next()
		op := OpMul
		if at.kind == '/' {
			op = OpDiv
		}
		right, n := p.operand()
		e, levels = p.binary(op, e, right, max(levels, n), &at)
	}
	return e, levels
}

// operand reads a value with the minuses before it. Those before a number are
// part of it; they count as levels nevertheless.
func (p *parser) operand() (Expr, int) {
	if p.tok.kind != '-' {
		return p.primary()
	}
	at, minuses := p.tok, 0
	for p.acceptPunct('-') {
		if minuses++; minuses > maxDepth {
			p.tooDeep(&at)
		}
	}
	if p.tok.kind == tokenInt || p.tok.kind == tokenFloat {
		return p.number(minuses%2 == 1), minuses
	}
	e, levels := p.primary()
	for range minuses {
		e, levels = &Unary{Op: OpNeg, X: e}, p.above(levels, &at)
	}
	return e, levels
}

func (p *parser) primary() (Expr, int) {
	switch p.tok.kind {
	case tokenWord:
		return p.wordValue()
	case tokenParam:
		return p.param(), 0
	case '(':
		return p.parenthesis()
	case tokenInt, tokenFloat, tokenString, '[', '{':
		return p.constant(), 0
	}
	p.expected("a value")
	return nil, 0
}

func (p *parser) parenthesis() (Expr, int) {
	at := p.next()
	p.enter(&at)
	defer p.leave()
	e, levels := p.expr()
	p.expectPunct(')')
	return e, p.above(levels, &at)
}

// wordValue reads what a word begins where a value stands: a literal, a case, a
// call or a path.
func (p *parser) wordValue() (Expr, int) {
	if l := p.wordLiteral(); l != nil {
		p.advance()
		return l, 0
	}
	if p.is("case") && p.lex.is(&p.ahead, "when") {
		return p.caseWhen()
	}
	if p.ahead.kind == '(' {
		return p.call()
	}
	p.term()
	path := p.path()
	return &path, 0
}

func (p *parser) caseWhen() (Expr, int) {
	at := p.next()
	p.enter(&at)
	defer p.leave()
	var (
		c      Case
		whens  gather[When]
		levels int
	)
	for p.accept("when") {
		cond, n := p.expr()
		p.expect("then")
		then, m := p.expr()
		whens.add(When{Cond: cond, Then: then})
		levels = max(levels, n, m)
	}
	if p.accept("else") {
		e, n := p.expr()
		c.Else = e
		levels = max(levels, n)
	}
	p.expect("end")
	c.Whens = whens.items()
	return &c, p.above(levels, &at)
}
