package exec

import (
	"context"
	"math"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// put is a compiled put or insert.
type put struct {
	compiled
	*level
	types   []value.Type
	insert  bool
	docs    [][]pair
	param   *expr.Expr // what holds the documents instead of docs, or nil
	absent  *absent    // of "if absent", or nil
	guard   *putGuard  // or nil
	require *int64
	runs    sync.Pool // of *putRun
}

// pair is a place of a document and what it is given.
type pair struct {
	place
	x *expr.Expr
}

func (k *compiler) put(s *ql.Put) (*put, error) {
	l, err := k.level(s.Into.Text, toInsert)
	if err != nil {
		return nil, err
	}
	p := &put{level: l, types: fieldTypes(l.col), insert: s.Insert, require: s.Require}
	if p.guard, err = k.putGuard(l); err != nil {
		return nil, err
	}
	if s.IfAbsent {
		if p.absent, err = k.absent(l, s); err != nil {
			return nil, err
		}
	}
	if s.Param != nil {
		p.param, err = p.c.Compile(s.Param, expr.None)
		return p, err
	}
	for _, d := range s.Docs {
		doc, err := compileDocument(p.c, d)
		if err != nil {
			return nil, err
		}
		p.docs = append(p.docs, doc)
	}
	return p, nil
}

func compileDocument(c *expr.Compiler, d ql.Document) ([]pair, error) {
	pairs := make([]pair, len(d))
	for i := range d {
		at, err := findPlace(c.Collection(), &d[i].Path)
		if err != nil {
			return nil, err
		}
		x, err := c.Compile(d[i].Value, expr.None)
		if err != nil {
			return nil, err
		}
		pairs[i] = pair{at, x}
	}
	return pairs, nil
}

// putRun is one run of a put.
type putRun struct {
	*put
	f        expr.Frame
	w        *table.Writer
	doc      document
	held     document // the row in the way, as "else set" changes it
	affected int
}

// Run carries the statement out.
func (p *put) Run(ctx context.Context, env Env, tx *table.Tx) (Outcome, error) {
	r, ok := p.runs.Get().(*putRun)
	if !ok {
		r = &putRun{put: p}
	}
	defer r.release()
	r.f.Reset(p.c, env.Params, env.Now)
	if err := p.prepare(ctx, &env, &r.f); err != nil {
		return Outcome{}, err
	}
	r.w, r.affected = tx.Writer(p.col), 0
	r.w.Now = env.Now
	if err := r.all(ctx); err != nil {
		return Outcome{}, err
	}
	return Outcome{Affected: r.affected}, met(p.require, r.affected, "written")
}

func (r *putRun) all(ctx context.Context) error {
	if r.param != nil {
		return r.fromParam(ctx)
	}
	for i, doc := range r.docs {
		if err := check(ctx, i); err != nil {
			return err
		}
		if err := r.pairs(doc); err != nil {
			return err
		}
	}
	return nil
}

func (r *putRun) release() {
	r.f.Release()
	r.doc.release()
	r.held.release()
	r.w = nil
	r.runs.Put(r)
}

// check looks at the context now and then.
func check(ctx context.Context, i int) error {
	if i%checkEvery != checkEvery-1 {
		return nil
	}
	return ctx.Err()
}

// pairs writes a document of the statement's text.
func (r *putRun) pairs(doc []pair) error {
	r.doc.begin(r.col, r.types)
	for i := range doc {
		v, err := doc[i].x.Eval(&r.f)
		if err != nil {
			return err
		}
		if err := r.doc.put(doc[i].place, v); err != nil {
			return err
		}
	}
	return r.write()
}

// fromParam writes the document, or the list of documents, in a parameter.
func (r *putRun) fromParam(ctx context.Context) error {
	v, err := r.param.Eval(&r.f)
	if err != nil {
		return err
	}
	switch v.Kind() {
	case value.KindObject:
		return r.members(v)
	case value.KindList:
		for i, d := range v.AsList() {
			if err := check(ctx, i); err != nil {
				return err
			}
			if err := r.members(d); err != nil {
				return err
			}
		}
		return nil
	}
	return noDocument(v)
}

func noDocument(v value.Value) error {
	return fault.New(fault.Type, "want a document or a list of documents, got %s", v.Kind())
}

// members writes a document of a parameter.
func (r *putRun) members(d value.Value) error {
	if d.Kind() != value.KindObject {
		return noDocument(d)
	}
	r.doc.begin(r.col, r.types)
	for _, m := range d.AsObject() {
		at, err := fromMember(r.col, m.Key)
		if err != nil {
			return err
		}
		if err := r.doc.put(at, m.Value); err != nil {
			return err
		}
	}
	return r.write()
}

// write writes the document as it is in r.doc.
func (r *putRun) write() error {
	d := &r.doc
	if err := r.guard.prepare(&r.f, d); err != nil {
		return err
	}
	if err := d.fit(); err != nil {
		return err
	}
	for i := range d.col.Fields {
		if f := &d.col.Fields[i]; f.Required && !d.named[i] {
			return fault.New(fault.Type, "field %q of collection %q is required", f.Name, d.col.Name)
		}
	}
	id, err := d.ownID()
	if err != nil {
		return err
	}
	b := d.encode()
	if r.absent != nil {
		held, err := r.holder(id, b)
		if held != 0 || err != nil {
			return r.inTheWay(held, err)
		}
	}
	if id, err = r.claim(id); err != nil {
		return err
	}
	if err := r.guard.check(&r.f, r.w, id, b); err != nil {
		return err
	}
	r.affected++
	return r.w.Put(id, b)
}

// claim returns the id that the document is written under: its own or, if that is
// 0, the next.
func (r *putRun) claim(id uint64) (uint64, error) {
	if id == 0 {
		id, err := r.w.NextID()
		if err == nil && id > math.MaxInt64 {
			err = fault.New(fault.Query, "the ids of collection %q are used up", r.col.Name)
		}
		return id, err
	}
	if !r.insert {
		return id, nil
	}
	old, err := r.w.Get(id)
	if err == nil && old != nil {
		err = fault.New(fault.Duplicate, "collection %q has a document with id %d", r.col.Name, id)
	}
	return id, err
}
