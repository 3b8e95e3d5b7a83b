package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Env is what a run of a statement is given.
type Env struct {
	Params []value.Value // $1 is the first; those past the last used are ignored
	Now    int64         // the statement's clock, milliseconds since 1970
}

// Statement is a compiled statement: a Query or a Write.
type Statement interface {
	// Collection returns the definition the statement was compiled for.
	Collection() *catalog.Collection
}

// Query is a compiled get or explain. It is safe for concurrent use.
type Query interface {
	Statement
	Run(ctx context.Context, env Env, t plan.Table) (*Result, error)
}

// Write is a compiled put, insert, set or del. It is safe for concurrent use.
type Write interface {
	Statement
	// Run carries the statement out and returns the number of documents it has
	// written or deleted.
	Run(ctx context.Context, env Env, w *table.Writer) (affected int, err error)
}

// Compile compiles a get, an explain, a put, a set or a del.
func Compile(cat *catalog.Catalog, s ql.Statement) (Statement, error) {
	name, ok := target(s)
	if !ok {
		return nil, fault.New(fault.Query, "a statement of %T does not read or write documents", s)
	}
	col, err := cat.Collection(name)
	if err != nil {
		return nil, err
	}
	switch s := s.(type) {
	case *ql.Get:
		return compileGet(col, s)
	case *ql.Explain:
		return compileExplain(col, s)
	case *ql.Put:
		return compilePut(col, s)
	case *ql.Set:
		return compileSet(col, s)
	default:
		return compileDel(col, s.(*ql.Del))
	}
}

// target returns the name of the collection that a statement reads or writes.
func target(s ql.Statement) (name string, ok bool) {
	switch s := s.(type) {
	case *ql.Get:
		return s.From.Text, true
	case *ql.Explain:
		return s.Get.From.Text, true
	case *ql.Put:
		return s.Into.Text, true
	case *ql.Set:
		return s.Name.Text, true
	case *ql.Del:
		return s.From.Text, true
	}
	return "", false
}

// Valid reports whether s may be run where cat is the catalog.
func Valid(s Statement, cat *catalog.Catalog) bool {
	c := s.Collection()
	return cat.Find(c.Name) == c
}

// checkEvery is after how many documents written the context is looked at.
const checkEvery = 1024
