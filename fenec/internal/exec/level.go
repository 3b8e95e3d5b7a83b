package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Options say what statements are compiled with.
type Options struct {
	// Functions are the functions of an embedder, by name in lower case.
	Functions map[string]expr.Function

	// Guard, if set, says what statements may read and write.
	Guard Guard
}

// compiler compiles one statement with all the collections it names.
type compiler struct {
	cat   *catalog.Catalog
	opts  Options
	uses  []*catalog.Collection
	guard map[*ql.Param]bool // the parameters of guards met so far
}

// level is how one level of a statement, a get, an inner get, a lookup, a set
// or a del, picks rows of its collection.
type level struct {
	col    *catalog.Collection
	c      *expr.Compiler
	plan   *plan.Plan
	inners []*get    // gets within expressions
	frames sync.Pool // of *expr.Frame
}

// Places in a frame's Outer.
const (
	outerParent = iota // the value of the parent that children are looked up for
	outerGuard         // the first parameter of guards
)

// level begins a level on the collection of that name, which the guard must admit
// to it. That is found out before anything of the level is compiled: what else is
// wrong with it would show the fields of a collection that is not to be seen.
func (k *compiler) level(name string, admit access) (*level, error) {
	col, err := k.cat.Collection(name)
	if err != nil {
		return nil, err
	}
	if k.opts.Guard != nil {
		if err := admit(k.opts.Guard, col); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(k.uses, col) {
		k.uses = append(k.uses, col)
	}
	l := &level{col: col, c: expr.NewCompiler(col)}
	l.c.Functions = k.opts.Functions
	l.c.Slots = k.outer
	l.c.Inner = func(g *ql.Get) (int, error) {
		x, err := k.inner(g)
		if err != nil {
			return 0, err
		}
		l.inners = append(l.inners, x)
		return len(l.inners) - 1, nil
	}
	return l, nil
}

// parentValue stands for the value that children are looked up by.
var parentValue = &ql.Param{}

// outer says which parts of expressions are given for a whole run.
func (k *compiler) outer(e ql.Expr) (*expr.Slot, error) {
	p, ok := e.(*ql.Param)
	switch {
	case !ok:
		return nil, nil
	case p == parentValue:
		return &expr.Slot{At: outerParent, Outer: true}, nil
	case k.guard[p]:
		return &expr.Slot{At: outerGuard + p.N - 1, Outer: true}, nil
	}
	return nil, nil
}

// pick compiles the clauses that pick rows, with the guard's condition.
func (k *compiler) pick(l *level, q plan.Clauses) (err error) {
	l.plan, err = k.plan(l, q)
	return err
}

// plan returns a plan of its own for clauses that pick rows of a level.
func (k *compiler) plan(l *level, q plan.Clauses) (*plan.Plan, error) {
	if err := k.guarded(l.col, &q); err != nil {
		return nil, err
	}
	return plan.Compile(l.c, q)
}

// begin returns a frame for one run, after having run the gets within
// expressions. End it with end.
func (l *level) begin(ctx context.Context, env *Env) (*expr.Frame, error) {
	f, ok := l.frames.Get().(*expr.Frame)
	if !ok {
		f = new(expr.Frame)
	}
	f.Reset(l.c, env.Params, env.Now)
	if err := l.prepare(ctx, env, f); err != nil {
		l.end(f)
		return nil, err
	}
	return f, nil
}

// prepare gives a frame that has been reset what its run needs.
func (l *level) prepare(ctx context.Context, env *Env, f *expr.Frame) error {
	if len(env.Guard) > 0 {
		f.Outer = append([]value.Value{outerParent: value.Null}, env.Guard...)
	}
	for i, x := range l.inners {
		values, err := x.values(ctx, env)
		if err != nil {
			return err
		}
		f.Inners[i] = values
	}
	return nil
}

func (l *level) end(f *expr.Frame) {
	f.Release()
	l.frames.Put(f)
}

// job returns what a run of the level's plan works with.
func (l *level) job(env *Env, f *expr.Frame, tr *plan.Trace) plan.Job {
	return plan.Job{Frame: f, Table: env.Source.Table(l.col), Trace: tr}
}
