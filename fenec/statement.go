package fenec

import (
	"context"
	"strings"
	"sync"
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
	return db.own.Query(ctx, text, args...)
}

// Exec runs one statement and returns how many documents it wrote or deleted.
func (db *DB) Exec(ctx context.Context, text string, args ...any) (int, error) {
	return db.own.Exec(ctx, text, args...)
}

// Stmt is a prepared statement: parsed once, compiled once for as long as its
// collections stay as they are. It is safe for concurrent use and needs no
// closing.
type Stmt struct {
	db       *DB
	policy   *Policy // it is compiled for, or nil
	tree     ql.Statement
	compiled atomic.Pointer[exec.Statement]
}

// Prepare parses a statement. Names are looked up when it runs: its collection
// may come into being, or be dropped and made anew, in between.
func (db *DB) Prepare(text string) (*Stmt, error) { return db.own.prepare(text) }

// prepare returns the statement of text. Sessions of one policy share it.
func (s *Session) prepare(text string) (*Stmt, error) {
	if st := s.cached(text); st != nil {
		return st, nil
	}
	keep := len(text) <= cachedText
	if keep {
		text = strings.Clone(text) // which may be a small part of a large body
	}
	tree, err := ql.Parse(text)
	if err != nil {
		return nil, err
	}
	st := &Stmt{db: s.db, policy: s.policy, tree: tree}
	switch {
	case !keep:
	case s.policy == nil:
		s.db.stmts.add(text, st)
	default:
		s.db.guarded.add(policyText{s.policy, text}, st)
	}
	return st, nil
}

// cached returns the statement of text if it is kept, else nil.
func (s *Session) cached(text string) *Stmt {
	if s.policy == nil {
		return s.db.stmts.get(text)
	}
	return s.db.guarded.get(policyText{s.policy, text})
}

// Query runs the statement as DB.Query does.
func (st *Stmt) Query(ctx context.Context, args ...any) (*Result, error) {
	return st.db.own.run(ctx, st, nil, args)
}

// run runs one statement. It may answer in the memory of into, if that is not nil.
func (s *Session) run(ctx context.Context, st *Stmt, into *Result, args []any) (*Result, error) {
	a := argumentPool.Get().(*arguments)
	defer a.release()
	params, err := appendParameters(a.few[:0], args)
	if err != nil {
		return nil, err
	}
	if err := s.allows(st.tree); err != nil {
		return nil, err
	}
	switch tree := st.tree.(type) {
	case *ql.Compact:
		return s.runCompact(ctx, tree)
	case *ql.CreateIndex:
		return s.createIndex(ctx, st)
	}
	if reads(st.tree) {
		return s.read(ctx, bound{st, params, into})
	}
	return s.writeOne(ctx, bound{st: st, params: params})
}

// Exec runs the statement as DB.Exec does.
func (st *Stmt) Exec(ctx context.Context, args ...any) (int, error) {
	res, err := st.Query(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.Affected(), nil
}

// arguments is memory for the parameters of one run of a statement, and then of
// others. What a run answers may share the memory of the values in it, not it.
type arguments struct{ few [4]value.Value }

var argumentPool = sync.Pool{New: func() any { return new(arguments) }}

// release gives the memory back, of which nothing may be used afterwards.
func (a *arguments) release() {
	clear(a.few[:])
	argumentPool.Put(a)
}

// parameters converts a call's arguments.
func parameters(args []any) ([]value.Value, error) { return appendParameters(nil, args) }

// appendParameters converts a call's arguments into the room of dst, if that is
// enough.
func appendParameters(dst []value.Value, args []any) ([]value.Value, error) {
	if len(args) > cap(dst) {
		dst = make([]value.Value, 0, len(args))
	}
	for i, a := range args {
		v, err := value.FromGo(a)
		if err != nil {
			return nil, fault.New(fault.Type, "parameter $%d: %s", i+1, message(err))
		}
		dst = append(dst, v)
	}
	return dst, nil
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
	s, err := exec.Compile(cat, st.tree, exec.Options{Functions: st.db.functions, Guard: st.policy.guard()})
	if err != nil {
		return nil, err
	}
	st.compiled.Store(&s)
	return s, nil
}

// runCompact runs a compact, which is no part of any block.
func (s *Session) runCompact(ctx context.Context, c *ql.Compact) (*Result, error) {
	db := s.db
	if c.Name.Text != "" {
		cat := db.catalogAt(db.store.Seq())
		if _, err := cat.Collection(c.Name.Text); err != nil {
			return nil, err
		}
		if err := s.knows(cat, c.Name.Text); err != nil {
			return nil, err
		}
	}
	if _, err := db.fenced(); err != nil {
		return nil, err
	}
	if err := db.Compact(ctx); err != nil {
		return nil, err
	}
	return &Result{kind: KindMessage, told: &told{message: "compacted"}, seq: db.Seq(), wrote: true}, nil
}
