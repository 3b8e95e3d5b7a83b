package ql

import "strings"

// Expressions.
type (
	// A Literal is a constant. Kind says which of the fields holds it.
	Literal struct {
		Kind  LiteralKind
		Bool  bool
		Int   int64
		Float float64 // finite
		Text  string
	}

	// A Param is a parameter, $N.
	Param struct {
		Pos Pos
		N   int // from 1
	}

	// A Path names a field, or with Keys a place inside a json field.
	Path struct {
		Pos   Pos
		Field string
		Keys  []string // at most 64
	}

	// A List is a list literal. Its items are Literals, Lists and Objects.
	List struct {
		Items []Expr
	}

	// An Object is an object literal. No two members have the same key.
	Object struct {
		Members []Member
	}

	// A Member is one member of an Object. Its value is a Literal, a List or
	// an Object.
	Member struct {
		Key   string
		Value Expr
	}

	// A Unary is "not X" (OpNot) or "-X" (OpNeg). The minus of a number is
	// part of its Literal.
	Unary struct {
		Op Op
		X  Expr
	}

	// A Binary is an operator between two operands. A chain of one operator
	// leans to the left.
	Binary struct {
		Op          Op
		Left, Right Expr
	}

	// An In is "X in [List]" or "X in (Get)".
	In struct {
		X    Expr
		List []Expr
		Get  *Get // nil with List; of one column, a Path or an aggregate
	}

	// An IsNull is "X is null" or "X is not null".
	IsNull struct {
		X   Expr
		Not bool
	}

	// A Case is "case when … then … else … end".
	Case struct {
		Whens []When // at least one
		Else  Expr   // nil without "else"
	}

	// A When is one branch of a Case.
	When struct {
		Cond, Then Expr
	}

	// A Call is a call of a function. Whether there is such a function is not
	// known here, but for the aggregates. Names of functions match in any
	// (ASCII) case.
	Call struct {
		Pos      Pos
		Name     string // as written
		Args     []Expr // none with Star
		Star     bool   // "*" stands for the arguments, of count only
		Distinct bool   // "distinct" stands before the argument, of count only
		By       Expr   // what follows "by" after the argument, of first and last only; else nil
	}

	// A Duration is a length of time as bucket takes it for its second
	// argument, such as 15m. Whether there is such a unit is not known here.
	Duration struct {
		Pos  Pos
		N    int64  // not negative
		Unit string // as written
	}
)

// String returns the path's text, its parts joined by dots.
func (p *Path) String() string {
	if len(p.Keys) == 0 {
		return p.Field
	}
	return p.Field + "." + strings.Join(p.Keys, ".")
}

func (*Literal) node()  {}
func (*Param) node()    {}
func (*Path) node()     {}
func (*List) node()     {}
func (*Object) node()   {}
func (*Unary) node()    {}
func (*Binary) node()   {}
func (*In) node()       {}
func (*IsNull) node()   {}
func (*Case) node()     {}
func (*Call) node()     {}
func (*Duration) node() {}

func (*Literal) expr()  {}
func (*Param) expr()    {}
func (*Path) expr()     {}
func (*List) expr()     {}
func (*Object) expr()   {}
func (*Unary) expr()    {}
func (*Binary) expr()   {}
func (*In) expr()       {}
func (*IsNull) expr()   {}
func (*Case) expr()     {}
func (*Call) expr()     {}
func (*Duration) expr() {}
