package ql

import (
	"strconv"
	"strings"
)

// How tightly the forms of expressions bind, from the loosest.
const (
	lowest = iota + 1
	bindOr
	bindAnd
	bindNot
	bindComparison
	bindSum
	bindProduct
	bindMinus
	bindPrimary
)

// binding returns how tightly an operator of two operands binds.
func (o Op) binding() int {
	switch o {
	case OpOr:
		return bindOr
	case OpAnd:
		return bindAnd
	case OpAdd, OpSub:
		return bindSum
	case OpMul, OpDiv:
		return bindProduct
	}
	return bindComparison
}

// binding returns how tightly the outermost form of e binds.
func binding(e Expr) int {
	switch e := e.(type) {
	case *Binary:
		return e.Op.binding()
	case *Unary:
		if e.Op == OpNot {
			return bindNot
		}
		return bindMinus
	case *In, *IsNull:
		return bindComparison
	case *Literal:
		// A minus before a number would become part of it.
		if e.Kind == Int || e.Kind == Float {
			return bindMinus
		}
	}
	return bindPrimary
}

// expr appends e where an operand stands that binds at least as tightly as
// least: in parentheses if e binds more loosely.
func (p *printer) expr(e Expr, least int) {
	if binding(e) < least {
		p.str("(")
		p.form(e)
		p.str(")")
		return
	}
	p.form(e)
}

// form appends e.
func (p *printer) form(e Expr) {
	switch e := e.(type) {
	case *Literal:
		p.literal(e)
	case *Param:
		p.param(e)
	case *Path:
		p.operandPath(e)
	case *List:
		p.list(e.Items)
	case *Object:
		p.object(e)
	case *Unary:
		p.unary(e)
	case *Binary:
		p.binary(e)
	case *In:
		p.in(e)
	case *IsNull:
		p.expr(e.X, bindSum)
		if e.Not {
			p.word("is not null")
		} else {
			p.word("is null")
		}
	case *Case:
		p.caseWhen(e)
	case *Call:
		p.call(e)
	case *Duration:
		p.duration(e)
	}
}

func (p *printer) in(e *In) {
	p.expr(e.X, bindSum)
	p.word("in ")
	if e.Get == nil {
		p.list(e.List)
		return
	}
	p.str("(")
	p.get(e.Get)
	p.str(")")
}

func (p *printer) call(c *Call) {
	p.str(c.Name)
	p.str("(")
	if c.Star {
		p.str("*")
	}
	if c.Distinct {
		p.str("distinct ")
	}
	p.exprs(c.Args)
	if c.By != nil {
		p.word("by ")
		p.expr(c.By, lowest)
	}
	p.str(")")
}

func (p *printer) unary(e *Unary) {
	if e.Op == OpNot {
		p.str("not ")
		p.expr(e.X, bindNot)
		return
	}
	p.str("-")
	if inner, ok := e.X.(*Unary); ok && inner.Op == OpNeg {
		p.str(" ") // two minuses begin a comment
		p.unary(inner)
		return
	}
	p.expr(e.X, bindPrimary)
	p.afterNot = -1 // no "not" is an operator there
}

func (p *printer) binary(e *Binary) {
	left := e.Op.binding()
	right := left + 1
	if left == bindComparison {
		left++ // comparisons do not chain
	}
	p.expr(e.Left, left)
	p.word(e.Op.String())
	p.str(" ")
	p.expr(e.Right, right)
	if left > bindNot {
		p.afterNot = -1 // no "not" is an operator there
	}
}

func (p *printer) caseWhen(c *Case) {
	p.str("case")
	for _, w := range c.Whens {
		p.word("when")
		p.str(" ")
		p.expr(w.Cond, lowest)
		p.word("then")
		p.str(" ")
		p.expr(w.Then, lowest)
	}
	if c.Else != nil {
		p.word("else")
		p.str(" ")
		p.expr(c.Else, lowest)
	}
	p.word("end")
}

func (p *printer) exprs(list []Expr) {
	for i, e := range list {
		p.comma(i)
		p.expr(e, lowest)
	}
}

func (p *printer) list(items []Expr) {
	p.str("[")
	p.exprs(items)
	p.str("]")
}

func (p *printer) object(o *Object) {
	p.str("{")
	for i, m := range o.Members {
		p.comma(i)
		p.key(m.Key)
		p.str(": ")
		p.expr(m.Value, lowest)
	}
	p.str("}")
}

// key appends the key of an object: as a string when it is no name.
func (p *printer) key(k string) {
	if isName(k) {
		p.str(k)
		return
	}
	p.quoted(k)
}

// isName reports whether s is written as a name.
func isName(s string) bool {
	l := lexer{text: s}
	t := l.next()
	return t.kind == tokenWord && !t.dotted && t.start == 0 && t.end == len(s)
}

func (p *printer) literal(l *Literal) {
	switch l.Kind {
	case Null:
		p.str("null")
	case Bool:
		p.buf = strconv.AppendBool(p.buf, l.Bool)
	case Int:
		p.int(l.Int)
	case Float:
		p.float(l.Float)
	case Text:
		p.quoted(l.Text)
	}
}

// float appends the shortest decimal that reads as f and as no integer.
func (p *printer) float(f float64) {
	start := len(p.buf)
	p.buf = strconv.AppendFloat(p.buf, f, 'g', -1, 64)
	if !strings.ContainsAny(string(p.buf[start:]), ".e") {
		p.str(".0")
	}
}

// quoted appends a string literal.
func (p *printer) quoted(s string) {
	p.str(`"`)
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			p.buf = append(p.buf, '\\', c)
		case '\n':
			p.str(`\n`)
		case '\t':
			p.str(`\t`)
		case '\r':
			p.str(`\r`)
		case 0:
			p.str(`\0`)
		default:
			p.buf = append(p.buf, c)
		}
	}
	p.str(`"`)
}

func (p *printer) param(e *Param) {
	p.str("$")
	p.int(int64(e.N))
}

// duration appends an integer and its unit, apart where together they would
// begin another number.
func (p *printer) duration(d *Duration) {
	p.int(d.N)
	if c := d.Unit[0] | 0x20; c == 'e' || d.Unit[0] == '_' {
		p.str(" ")
	}
	p.str(d.Unit)
}

func (p *printer) path(path *Path) {
	p.str(path.Field)
	for _, k := range path.Keys {
		p.str(".")
		p.str(k)
	}
}

// operandPath appends a path that stands for a value.
func (p *printer) operandPath(path *Path) {
	p.path(path)
	switch {
	case len(path.Keys) > 0:
	case isWord(path.Field, "not"):
		p.afterNot = len(p.buf)
	case isWord(path.Field, "case"):
		p.afterCase = len(p.buf)
	}
}
