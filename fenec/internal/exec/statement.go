package exec

import (
	"context"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Env is what a run of a statement is given.
type Env struct {
	Params []value.Value // $1 is the first; those past the last used are ignored
	Guard  []value.Value // the parameters of the conditions that Options.Guard gives
	Now    int64         // the statement's clock, milliseconds since 1970
	Source Source
	Into   *Result // a recycled one that a get may answer in, or nil

	trace *plan.Trace // takes down what is done, for explain; else nil
}

var envs = sync.Pool{New: func() any { return new(Env) }}

// release lets e be what another run is given.
func (e *Env) release() {
	*e = Env{}
	envs.Put(e)
}

// Source gives the collections that a statement reads.
type Source interface {
	Table(c *catalog.Collection) plan.Table

	// Graph returns the graph of x, an index of c of kind HNSW.
	Graph(ctx context.Context, c *catalog.Collection, x *catalog.Index) (*graphs.Graph, error)
}

// Statement is a compiled statement: a Query or a Write.
type Statement interface {
	// Uses returns the definitions the statement was compiled for.
	Uses() []*catalog.Collection
}

// Query is a compiled get or explain. It is safe for concurrent use.
type Query interface {
	Statement
	Run(ctx context.Context, env Env) (*Result, error)
}

// Batches is a compiled get, whose rows can be had some at a time.
type Batches interface {
	Query

	// Each carries the statement out as Run does. It gives emit the rows as they
	// are found, some at a time, and returns those after the last of these. While
	// emit is called nothing depends on the source's views: they may be paused. Its
	// error ends the run.
	Each(ctx context.Context, env Env, emit func(*Result) error) (*Result, error)
}

// Write is a compiled put, insert, set or del. It is safe for concurrent use.
type Write interface {
	Statement
	Run(ctx context.Context, env Env, tx *table.Tx) (Outcome, error)
}

// Outcome is what a write has done.
type Outcome struct {
	Affected int     // documents written or deleted
	Rows     *Result // what returning gives; nil without
}

// Compile compiles a get, an explain, a put, a set or a del.
func Compile(cat *catalog.Catalog, s ql.Statement, opts Options) (Statement, error) {
	k := &compiler{cat: cat, opts: opts}
	switch s := s.(type) {
	case *ql.Get:
		return with(k, s, k.get)
	case *ql.Explain:
		return with(k, s, k.explain)
	case *ql.Put:
		return with(k, s, k.put)
	case *ql.Set:
		return with(k, s, k.set)
	case *ql.Del:
		return with(k, s, k.del)
	}
	return nil, fault.New(fault.Query, "a statement of %T does not read or write documents", s)
}

// compiled is what all compiled statements have.
type compiled struct{ uses []*catalog.Collection }

// Uses returns the definitions the statement was compiled for.
func (c *compiled) Uses() []*catalog.Collection { return c.uses }

func (c *compiled) use(uses []*catalog.Collection) { c.uses = uses }

// with compiles s and tells the statement what it was compiled for.
func with[T ql.Statement, S interface {
	Statement
	use(uses []*catalog.Collection)
}](k *compiler, s T, compile func(T) (S, error)) (Statement, error) {
	out, err := compile(s)
	if err != nil {
		return nil, err
	}
	out.use(k.uses)
	return out, nil
}

// Valid reports whether s may be run where cat is the catalog.
func Valid(s Statement, cat *catalog.Catalog) bool {
	for _, c := range s.Uses() {
		if cat.Find(c.Name) != c {
			return false
		}
	}
	return true
}

// checkEvery is after how many documents written, groups made, or posting lists
// opened, the context is looked at.
const checkEvery = 64
