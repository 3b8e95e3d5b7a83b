package ql

// A LiteralKind tells what a Literal holds.
type LiteralKind uint8

// The kinds of literals.
const (
	Null LiteralKind = iota
	Bool
	Int
	Float
	Text
)

// A TypeKind is the type of a field, without its parameters.
type TypeKind uint8

// The types of fields.
const (
	TypeBool TypeKind = iota + 1
	TypeInt
	TypeFloat
	TypeText
	TypeBytes
	TypeTimestamp
	TypeJSON
	TypeVector
	TypeList
	TypeSparse
	TypeGeo
)

// String returns the type's word.
func (k TypeKind) String() string { return wordAt(typeNames[:], int(k)) }

var typeNames = [...]string{
	TypeBool:      "bool",
	TypeInt:       "int",
	TypeFloat:     "float",
	TypeText:      "text",
	TypeBytes:     "bytes",
	TypeTimestamp: "timestamp",
	TypeJSON:      "json",
	TypeVector:    "vector",
	TypeList:      "list",
	TypeSparse:    "sparse",
	TypeGeo:       "geo",
}

// An IndexKind is a kind of index.
type IndexKind uint8

// The kinds of indexes.
const (
	IndexHash IndexKind = iota + 1
	IndexUnique
	IndexSorted
	IndexInverted
	IndexGeo
	IndexTTL
	IndexHNSW
	IndexText
)

// String returns the index's word, without the "@".
func (k IndexKind) String() string { return wordAt(indexNames[:], int(k)) }

var indexNames = [...]string{
	IndexHash:     "hash",
	IndexUnique:   "unique",
	IndexSorted:   "sorted",
	IndexInverted: "inverted",
	IndexGeo:      "geo",
	IndexTTL:      "ttl",
	IndexHNSW:     "hnsw",
	IndexText:     "text",
}

// An AlterKind is what an AlterCollection does.
type AlterKind uint8

// The kinds of alterations.
const (
	AlterAdd AlterKind = iota + 1
	AlterDrop
	AlterRename
	AlterIndex
)

// String returns the alteration's word.
func (k AlterKind) String() string { return wordAt(alterNames[:], int(k)) }

var alterNames = [...]string{
	AlterAdd:    "add",
	AlterDrop:   "drop",
	AlterRename: "rename",
	AlterIndex:  "alter",
}

// A MarkKind is a kind of mark in a select list.
type MarkKind uint8

// The kinds of marks.
const (
	MarkHighlight MarkKind = iota + 1
	MarkSnippet
)

// String returns the mark's word.
func (k MarkKind) String() string { return wordAt(markNames[:], int(k)) }

var markNames = [...]string{
	MarkHighlight: "highlight",
	MarkSnippet:   "snippet",
}

// An Op is an operator of a Unary or a Binary.
type Op uint8

// The operators. OpNot and OpNeg are those of a Unary.
const (
	OpOr Op = iota + 1
	OpAnd
	OpNot
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpContains // ~
	OpHas
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpNeg
)

// String returns the operator as it is written.
func (o Op) String() string { return wordAt(opNames[:], int(o)) }

var opNames = [...]string{
	OpOr:       "or",
	OpAnd:      "and",
	OpNot:      "not",
	OpEq:       "=",
	OpNe:       "!=",
	OpLt:       "<",
	OpLe:       "<=",
	OpGt:       ">",
	OpGe:       ">=",
	OpContains: "~",
	OpHas:      "has",
	OpAdd:      "+",
	OpSub:      "-",
	OpMul:      "*",
	OpDiv:      "/",
	OpNeg:      "-",
}

func wordAt(words []string, i int) string {
	if i < len(words) && words[i] != "" {
		return words[i]
	}
	return "?"
}
