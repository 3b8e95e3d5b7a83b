package ql

import (
	"strconv"
	"strings"
)

// A Pos is a place in a statement's text. The zero Pos is no place at all:
// that of a node which was not parsed.
type Pos struct {
	Line   int32 // from 1
	Column int32 // in characters, from 1
}

// String returns the position in the words of an [Error].
func (p Pos) String() string {
	return "line " + strconv.Itoa(int(p.Line)) + ", column " + strconv.Itoa(int(p.Column))
}

// A Node is a statement or an expression. Trees are not changed once they are
// parsed: several places of a tree, and several trees, may hold one node.
type Node interface{ node() }

// A Statement is one statement: a pointer to one of CreateCollection,
// DropCollection, Put, Get, Explain, Set, Del, Collections, Describe and
// Compact.
type Statement interface {
	Node
	statement()
}

// An Expr is an expression: a pointer to one of Literal, Param, Path, List,
// Object, Unary, Binary, In, IsNull, Case, Call and Duration.
type Expr interface {
	Node
	expr()
}

// A Name is the name of a collection, a field or a column, as written.
type Name struct {
	Pos  Pos
	Text string
}

// Statements.
type (
	// CreateCollection is "create collection [if not exists] Name (Fields)".
	CreateCollection struct {
		IfNotExists bool
		Name        Name
		Fields      []FieldDef // at least one
	}

	// DropCollection is "drop collection [if exists] Name".
	DropCollection struct {
		IfExists bool
		Name     Name
	}

	// Put is "put Into …" or "insert into Into …". The documents are written
	// out in Docs or come from Param; one of the two is set.
	Put struct {
		Insert bool // the statement is an insert: it replaces no document
		Into   Name
		Docs   []Document
		Param  *Param // holds a document or a list of them
	}

	// Get is "get From" with its clauses. A zero clause was not written.
	Get struct {
		From    Name
		Star    bool     // the columns are "*"
		Columns []Column // empty with Star or without a select list
		Where   Expr
		Order   []Key
		Limit   *int64 // not negative
		Offset  *int64 // not negative
		Count   bool
	}

	// Explain is "explain Get".
	Explain struct {
		Get *Get
	}

	// Set is "set Name {Pairs}" with its clauses.
	Set struct {
		Name  Name
		Pairs Document
		Where Expr
		Order []Key
		Limit *int64 // not negative
	}

	// Del is "del From" with its clauses.
	Del struct {
		From  Name
		Where Expr
		Order []Key
		Limit *int64 // not negative
	}

	// Collections is "collections".
	Collections struct{}

	// Describe is "describe Name".
	Describe struct {
		Name Name
	}

	// Compact is "compact [Name]". Without a name Name.Text is empty.
	Compact struct {
		Name Name
	}
)

// Parts of statements.
type (
	// A FieldDef declares one field of a collection.
	FieldDef struct {
		Name     Name
		Type     TypeDef
		Required bool
		Index    *IndexDef // nil without an index
	}

	// A TypeDef is the type of a declared field.
	TypeDef struct {
		Pos  Pos
		Kind TypeKind
		Elem *TypeDef // the element of a TypeList, else nil
		Dim  int64    // the components of a TypeVector: as written, so 0 may be met
		Half bool     // components of a TypeVector are stored in 16 bits (f16)
	}

	// An IndexDef is an index annotation of a declared field.
	IndexDef struct {
		Pos  Pos
		Kind IndexKind
	}

	// A Document is the pairs between the braces of a put or a set, in the
	// order written. A field may come twice.
	Document []Pair

	// A Pair gives a field, or a place inside a json field, its value. A name
	// written as a string is one name, whatever dots it holds.
	Pair struct {
		Path  Path
		Value Expr
	}

	// A Column is one item of a select list.
	Column struct {
		Expr Expr
		As   Name // As.Text is empty without "as"
	}

	// A Key is one key of an order clause.
	Key struct {
		Path Path
		Desc bool
	}
)

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

	// An In is "X in [List]".
	In struct {
		X    Expr
		List []Expr
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
	// known here. Names of functions match in any (ASCII) case.
	Call struct {
		Pos  Pos
		Name string // as written
		Args []Expr
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

func (*CreateCollection) node() {}
func (*DropCollection) node()   {}
func (*Put) node()              {}
func (*Get) node()              {}
func (*Explain) node()          {}
func (*Set) node()              {}
func (*Del) node()              {}
func (*Collections) node()      {}
func (*Describe) node()         {}
func (*Compact) node()          {}

func (*CreateCollection) statement() {}
func (*DropCollection) statement()   {}
func (*Put) statement()              {}
func (*Get) statement()              {}
func (*Explain) statement()          {}
func (*Set) statement()              {}
func (*Del) statement()              {}
func (*Collections) statement()      {}
func (*Describe) statement()         {}
func (*Compact) statement()          {}

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
