package ql

import "strconv"

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
// CreateIndex, DropCollection, AlterCollection, Put, Get, Explain, Set, Del,
// Collections, Describe and Compact.
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

	// CreateIndex is "create index [if not exists] on On (Path) @Index".
	CreateIndex struct {
		IfNotExists bool
		On          Name
		Path        Path
		Index       IndexDef
	}

	// DropCollection is "drop collection [if exists] Name".
	DropCollection struct {
		IfExists bool
		Name     Name
	}

	// AlterCollection is "alter collection Name …". Kind says which of the
	// fields tell how.
	AlterCollection struct {
		Name  Name
		Kind  AlterKind
		Add   *FieldDef // of AlterAdd
		Field Name      // of the others
		To    Name      // of AlterRename
		Index *IndexDef // of AlterIndex: an IndexTTL or an IndexSorted
	}

	// Put is "put Into …" or "insert into Into …". The documents are written
	// out in Docs or come from Param; one of the two is set.
	Put struct {
		Insert   bool // the statement is an insert: it replaces no document
		Into     Name
		Docs     []Document
		Param    *Param // holds a document or a list of them
		IfAbsent bool
		HasElse  bool     // "else set" was written, which IfAbsent allows
		ElseSet  Document // of HasElse
		Require  *int64   // not negative
	}

	// Get is "get From" with its clauses. A zero clause was not written.
	Get struct {
		From    Name
		Star    bool     // the columns are "*", which marks may follow
		Columns []Column // only marks with Star, empty without a select list
		Where   Expr
		Near    *Near
		Match   *Match
		Rerank  *Rerank
		Fuse    *Fuse
		Group   []Expr
		Having  Expr
		Order   []Key
		Limit   *int64 // not negative
		Offset  *int64 // not negative
		Count   bool
		Require *int64 // not negative
		Facets  []Facet
		Lookup  *Lookup
	}

	// Explain is "explain Get".
	Explain struct {
		Get *Get
	}

	// Set is "set Name {Pairs}" with its clauses.
	Set struct {
		Name      Name
		Pairs     Document
		Where     Expr
		Order     []Key
		Limit     *int64 // not negative
		Returning *Returning
		Require   *int64 // not negative
	}

	// Del is "del From" with its clauses.
	Del struct {
		From      Name
		Where     Expr
		Order     []Key
		Limit     *int64 // not negative
		Returning *Returning
		Require   *int64 // not negative
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

// What statements write.
type (
	// A Document is the pairs between the braces of a put or a set, in the
	// order written. A field may come twice.
	Document []Pair

	// A Pair gives a field, or a place inside a json field, its value. A name
	// written as a string is one name, whatever dots it holds.
	Pair struct {
		Path  Path
		Value Expr
	}
)

func (*CreateCollection) node() {}
func (*CreateIndex) node()      {}
func (*AlterCollection) node()  {}
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
func (*CreateIndex) statement()      {}
func (*AlterCollection) statement()  {}
func (*DropCollection) statement()   {}
func (*Put) statement()              {}
func (*Get) statement()              {}
func (*Explain) statement()          {}
func (*Set) statement()              {}
func (*Del) statement()              {}
func (*Collections) statement()      {}
func (*Describe) statement()         {}
func (*Compact) statement()          {}
