package fenec

import (
	"strings"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Shape is what a subscription follows: the documents of one collection that
// meet a condition, and some of their fields.
type Shape struct {
	Collection string
	Where      string   // a condition of the language; "" for every document
	Args       []any    // of its parameters
	Select     []string // fields, or paths into json; none stands for all. The id comes first in any case
}

// shapeKey is what a shape is compiled from.
type shapeKey struct {
	policy *Policy
	text   string
}

func (s *Shape) key(p *Policy) shapeKey {
	parts := append([]string{s.Collection, s.Where}, s.Select...)
	return shapeKey{p, strings.Join(parts, "\x00")}
}

// shape is a compiled Shape, which subscriptions share.
type shape struct {
	key    shapeKey
	subs   int // guarded by watch.mu
	get    ql.Get
	params int   // that the condition needs
	blind  bool  // it is "false", of a session with a policy: it follows all that the policy shows
	all    *Stmt // every row

	mu   sync.Mutex        // guards the field below
	some map[idCount]*Stmt // the rows of some ids
}

// idCount is how many ids a statement takes, as the parameters past the first
// ones.
type idCount struct{ first, ids int }

// shape returns the compiled form of a shape. Give it back with forget.
func (s *Session) shape(from *Shape) (*shape, error) {
	key := from.key(s.policy)
	w := &s.db.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.shapes[key]
	if x == nil {
		var err error
		if x, err = s.newShape(key, from); err != nil {
			return nil, err
		}
		if w.shapes == nil {
			w.shapes = map[shapeKey]*shape{}
		}
		w.shapes[key] = x
	}
	x.subs++
	return x, nil
}

// forget gives a shape back.
func (w *watch) forget(x *shape) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.subs--; x.subs == 0 {
		delete(w.shapes, x.key)
	}
}

func (s *Session) newShape(key shapeKey, from *Shape) (*shape, error) {
	x := &shape{key: key, get: ql.Get{From: ql.Name{Text: from.Collection}}, some: map[idCount]*Stmt{}}
	if from.Where != "" {
		where, err := ql.ParseExpr(from.Where)
		if err != nil {
			return nil, err
		}
		x.get.Where, x.params = where, ql.Params(where)
	}
	if s.policy != nil && isFalse(x.get.Where) {
		x.blind, x.get.Where = true, nil
	}
	if len(from.Select) > 0 {
		columns, err := shapeColumns(from.Select)
		if err != nil {
			return nil, err
		}
		x.get.Columns = columns
	}
	x.all = &Stmt{db: s.db, policy: s.policy, tree: &x.get}
	return x, nil
}

// shapeColumns reads the paths of a shape and puts the id first.
func shapeColumns(paths []string) ([]ql.Column, error) {
	columns := []ql.Column{{Expr: idPath}}
	for _, text := range paths {
		e, err := ql.ParseExpr(text)
		if err != nil {
			return nil, err
		}
		p, ok := e.(*ql.Path)
		if !ok {
			return nil, fault.New(fault.Query, "a subscription selects fields and paths, not %.80q", text)
		}
		if p.Field != catalog.ID {
			columns = append(columns, ql.Column{Expr: p})
		}
	}
	return columns, nil
}

var idPath = &ql.Path{Field: catalog.ID}

// check returns why the condition does not fit c. Fields that it names where no
// row leads to are looked up too, which running it would not do.
func (x *shape) check(c *catalog.Collection) (err error) {
	if x.get.Where == nil {
		return nil
	}
	var visit func(e ql.Expr) bool
	visit = func(e ql.Expr) bool {
		switch e := e.(type) {
		case *ql.Path:
			if _, ok := c.Position(e.Field); !ok && e.Field != catalog.ID && err == nil {
				err = c.NoField(e.Field)
			}
		case *ql.In:
			if e.Get != nil {
				ql.Walk(e.X, visit)
				return false // it reads another collection
			}
		}
		return true
	}
	ql.Walk(x.get.Where, visit)
	return err
}

// keptIDs is the most ids that a statement is kept for.
const keptIDs = 64

// of returns the statement for the rows of that many ids or more, and for how
// many. The ids are the parameters after the first n.
func (x *shape) of(n, ids int) (*Stmt, int) {
	if ids > keptIDs {
		return x.newOf(n, ids), ids
	}
	takes := 1
	for takes < ids {
		takes *= 4
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	at := idCount{n, takes}
	if x.some[at] == nil {
		x.some[at] = x.newOf(n, takes)
	}
	return x.some[at], takes
}

func (x *shape) newOf(n, ids int) *Stmt {
	in := &ql.In{X: idPath, List: make([]ql.Expr, ids)}
	params := make([]ql.Param, ids)
	for i := range params {
		params[i].N = n + i + 1
		in.List[i] = &params[i]
	}
	get := x.get
	get.Where = in
	if x.get.Where != nil {
		get.Where = &ql.Binary{Op: ql.OpAnd, Left: in, Right: x.get.Where}
	}
	return &Stmt{db: x.all.db, policy: x.all.policy, tree: &get}
}
