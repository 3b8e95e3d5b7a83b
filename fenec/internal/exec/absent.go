package exec

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// absent says what a put does with a document that a row is in the way of: one
// with its id, or with one of its unique values.
type absent struct {
	change  bool // "else set": the row is changed
	pairs   []change
	updates *updates // of a guard, else nil
}

// refused is how "else set" names the document that is not put in.
const refused = "new"

func (k *compiler) absent(l *level, s *ql.Put) (*absent, error) {
	a := &absent{change: s.HasElse}
	if !a.change {
		return a, nil
	}
	var err error
	if a.updates, err = k.heldUpdates(l); err != nil {
		return nil, err
	}
	if a.updates != nil && a.updates.unread != nil && readsHeld(s.ElseSet) {
		return nil, a.updates.unread
	}
	l.c.Slots = func(e ql.Expr) (*expr.Slot, error) {
		if p, ok := e.(*ql.Path); ok && p.Field == refused && len(p.Keys) > 0 {
			return refusedSlot(l.col, p)
		}
		return k.outer(e)
	}
	defer func() { l.c.Slots = k.outer }()
	a.pairs, err = compileChanges(l.c, s.ElseSet)
	return a, err
}

// readsHeld reports whether values read the document that is in the way: an error
// would show what it holds.
func readsHeld(d ql.Document) bool {
	reads := false
	for i := range d {
		ql.Walk(d[i].Value, func(e ql.Expr) bool {
			p, ok := e.(*ql.Path)
			reads = reads || ok && (p.Field != refused || len(p.Keys) == 0)
			return true
		})
	}
	return reads
}

// refusedSlot returns where the refused document's values are: in their fields'
// places, and after these the id.
func refusedSlot(c *catalog.Collection, p *ql.Path) (*expr.Slot, error) {
	name, keys := p.Keys[0], p.Keys[1:]
	at, err := findPlace(c, &ql.Path{Pos: p.Pos, Field: name, Keys: keys})
	if err != nil {
		return nil, err
	}
	if at.at == idColumn {
		at.at = len(c.Fields)
	}
	return &expr.Slot{At: at.at, Keys: keys}, nil
}

// holder returns the row that is in the way of the document b, or 0.
func (r *putRun) holder(id uint64, b []byte) (uint64, error) {
	if id != 0 {
		if old, err := r.w.Get(id); old != nil || err != nil {
			return id, err
		}
	}
	held, _, err := holder(r.w, b, id)
	return held, err
}

// holder returns the row, other than the one with that id, that holds a unique
// value of the row b, and the index it is held in; 0 if there is none.
func holder(w *table.Writer, b []byte, id uint64) (uint64, *catalog.Index, error) {
	c := w.Collection()
	var fields row.Row
	for _, x := range c.Indexes() {
		if x.Kind != catalog.Unique {
			continue
		}
		var err error
		if fields, err = row.Parse(b); err != nil {
			return 0, nil, err
		}
		v, err := uniqueValue(c, x, &fields)
		if err != nil {
			return 0, nil, err
		}
		held, err := w.Holder(x, v, id)
		if held != 0 || err != nil {
			return held, x, err
		}
	}
	return 0, nil, nil
}

func uniqueValue(c *catalog.Collection, x *catalog.Index, fields *row.Row) (value.Value, error) {
	if x.Keys != nil {
		return fields.ViewPath(x.Field, x.Keys...)
	}
	return fields.View(x.Field, c.Fields[x.Field].Type)
}

// inTheWay does what is to be done with a document that the row held is in the
// way of. err is why that is not known.
func (r *putRun) inTheWay(held uint64, err error) error {
	if err != nil || !r.absent.change {
		return err
	}
	old, err := r.w.Get(held)
	if err != nil {
		return err
	}
	if err := r.absent.updates.admits(&r.f, held, old); err != nil {
		return err
	}
	r.f.Slots = append(append(r.f.Slots[:0], r.doc.vals...), r.doc.id)
	after, err := r.held.changed(r.col, r.types, &r.f, held, old, r.absent.pairs)
	if err != nil {
		return err
	}
	if err := r.absent.updates.check(&r.f, r.w, held, old, after); err != nil {
		return err
	}
	r.affected++
	return r.w.Replace(held, after)
}
