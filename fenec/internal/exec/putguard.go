package exec

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// putGuard is what a guard says of the documents of a put; nil without a guard.
type putGuard struct {
	col     *catalog.Collection
	where   *expr.Expr // what a new document meets; nil for all
	fills   []pair
	named   error    // what a document fails with that names its id, or nil
	updates *updates // of rows that a document replaces
	refusal error    // why there are no updates
}

func (k *compiler) putGuard(l *level) (*putGuard, error) {
	if k.opts.Guard == nil {
		return nil, nil
	}
	in, err := k.opts.Guard.Insert(l.col)
	if err != nil {
		return nil, err
	}
	g := &putGuard{col: l.col, named: in.Named}
	if g.where, err = k.test(l, in.Where); err != nil {
		return nil, err
	}
	for _, fill := range in.Fill {
		at, ok := l.col.Position(fill.Field)
		if !ok {
			return nil, l.col.NoField(fill.Field)
		}
		k.impose(fill.Value)
		x, err := l.c.Compile(fill.Value, expr.None)
		if err != nil {
			return nil, err
		}
		g.fills = append(g.fills, pair{place{at: at}, x})
	}
	g.updates, g.refusal = k.heldUpdates(l)
	return g, nil
}

// prepare fills in what a document leaves out. There is no row yet.
func (g *putGuard) prepare(f *expr.Frame, d *document) error {
	if g == nil {
		return nil
	}
	if d.hasID && g.named != nil {
		return g.named
	}
	for i := range g.fills {
		p := &g.fills[i]
		if d.named[p.at] {
			continue
		}
		v, err := p.x.Eval(f)
		if err != nil {
			return err
		}
		if err := d.put(p.place, v); err != nil {
			return err
		}
	}
	return nil
}

// check returns why the document b may not be written under id.
func (g *putGuard) check(f *expr.Frame, w *table.Writer, id uint64, b []byte) error {
	if g == nil {
		return nil
	}
	old, err := w.Get(id)
	if err != nil {
		return err
	}
	if old != nil {
		if g.refusal != nil {
			return g.refusal
		}
		return g.updates.check(f, w, id, old, b)
	}
	if ok, err := meets(f, g.where, id, b); !ok || err != nil {
		return orDenied(g.col, err)
	}
	return discreet(w, id, b)
}
