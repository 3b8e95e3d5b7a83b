package fenec

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Statement is a statement's text with its arguments, for Batch.
type Statement struct {
	Text string
	Args []any
}

// Query runs one statement, of any kind, and returns its answer. A statement
// that fails changes nothing. When ctx ends, a running scan does too; a write
// that was already waiting for the disk has happened, whatever is returned.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*Result, error) {
	st, err := db.Prepare(text)
	if err != nil {
		return nil, err
	}
	return st.Query(ctx, args...)
}

// Exec runs one statement and returns how many documents it wrote or deleted.
func (db *DB) Exec(ctx context.Context, text string, args ...any) (int, error) {
	res, err := db.Query(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.Affected(), nil
}

// Stmt is a prepared statement: parsed once, compiled once for as long as its
// collection stays. It is safe for concurrent use and needs no closing.
type Stmt struct {
	db       *DB
	tree     ql.Statement
	compiled atomic.Pointer[exec.Statement]
}

// Prepare parses a statement. Names are looked up when it runs: its collection
// may come into being, or be dropped and made anew, in between.
func (db *DB) Prepare(text string) (*Stmt, error) {
	if st := db.stmts.get(text); st != nil {
		return st, nil
	}
	if len(text) <= cachedText {
		text = strings.Clone(text) // which may be a small part of a large body
	}
	tree, err := ql.Parse(text)
	if err != nil {
		return nil, err
	}
	st := &Stmt{db: db, tree: tree}
	db.stmts.add(text, st)
	return st, nil
}

// Query runs the statement as DB.Query does.
func (st *Stmt) Query(ctx context.Context, args ...any) (*Result, error) {
	params, err := parameters(args)
	if err != nil {
		return nil, err
	}
	if c, ok := st.tree.(*ql.Compact); ok {
		return st.db.runCompact(ctx, c)
	}
	if reads(st.tree) {
		return st.db.read(ctx, st, params)
	}
	results, err := st.db.write(ctx, []bound{{st, params}})
	if err != nil {
		return nil, unwrapBatch(err)
	}
	return results[0], nil
}

// Exec runs the statement as DB.Exec does.
func (st *Stmt) Exec(ctx context.Context, args ...any) (int, error) {
	res, err := st.Query(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.Affected(), nil
}

// parameters converts a call's arguments.
func parameters(args []any) ([]value.Value, error) {
	if len(args) == 0 {
		return nil, nil
	}
	params := make([]value.Value, len(args))
	for i, a := range args {
		v, err := value.FromGo(a)
		if err != nil {
			return nil, fault.New(fault.Type, "parameter $%d: %s", i+1, message(err))
		}
		params[i] = v
	}
	return params, nil
}

// message returns an error's text without the kind it begins with.
func message(err error) string {
	if f, ok := err.(*fault.Error); ok {
		return f.Msg
	}
	return err.Error()
}

// reads reports whether a statement changes nothing.
func reads(tree ql.Statement) bool {
	switch tree.(type) {
	case *ql.Get, *ql.Explain, *ql.Collections, *ql.Describe:
		return true
	}
	return false
}

// compile returns the statement compiled for cat.
func (st *Stmt) compile(cat *catalog.Catalog) (exec.Statement, error) {
	if p := st.compiled.Load(); p != nil && exec.Valid(*p, cat) {
		return *p, nil
	}
	s, err := exec.Compile(cat, st.tree)
	if err != nil {
		return nil, err
	}
	st.compiled.Store(&s)
	return s, nil
}

// runCompact runs a compact, which is no part of any block.
func (db *DB) runCompact(ctx context.Context, c *ql.Compact) (*Result, error) {
	if c.Name.Text != "" {
		if _, err := db.catalogAt(db.store.Seq()).Collection(c.Name.Text); err != nil {
			return nil, err
		}
	}
	if err := db.Compact(ctx); err != nil {
		return nil, err
	}
	return &Result{kind: KindMessage, message: "compacted", seq: db.Seq(), wrote: true}, nil
}

func schemas(tree ql.Statement, cat *catalog.Catalog) ([]*catalog.Collection, error) {
	d, ok := tree.(*ql.Describe)
	if !ok {
		return cat.Collections(), nil
	}
	c, err := cat.Collection(d.Name.Text)
	if err != nil {
		return nil, err
	}
	return []*catalog.Collection{c}, nil
}
