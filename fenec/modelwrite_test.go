package fenec_test

import (
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// draft is a document of a put on its way.
type draft struct {
	d     doc
	named map[string]bool
}

// write gives a place its value.
func (r *draft) write(t *table, p *ql.Path, v any) error {
	f := t.field(p.Field)
	switch {
	case p.Field == "id":
	case f == nil:
		return fenec.ErrNotFound
	case len(p.Keys) > 0 && f.Type.Kind != ql.TypeJSON:
		return fenec.ErrType
	}
	whole, err := setPath(r.d[p.Field], p.Keys, v)
	r.d[p.Field], r.named[p.Field] = whole, true
	return err
}

// fit makes the values those that their fields hold.
func (r *draft) fit(t *table) (err error) {
	for _, f := range t.fields {
		if r.d[f.Name.Text], err = coerce(&f.Type, r.d[f.Name.Text]); err != nil {
			return err
		}
	}
	return nil
}

func (q *asked) put(s *ql.Put) outcome {
	t, err := q.w.table(s.Into.Text)
	if err != nil {
		return failed(err)
	}
	if err := q.checkPut(t, s); err != nil {
		return failed(err)
	}
	drafts, err := q.drafts(t, s)
	if err != nil {
		return failed(err)
	}
	out := outcome{}
	for _, next := range drafts {
		r, err := next()
		if err == nil {
			var n int
			n, err = q.write(t, s, r)
			out.affected += n
		}
		if err != nil {
			return failed(err)
		}
	}
	return out.require(s.Require, out.affected)
}

// require fails unless n rows were met.
func (o outcome) require(want *int64, n int) outcome {
	if want != nil && *want != int64(n) {
		return failed(fenec.ErrUnmet)
	}
	return o
}

// checkPut checks what is wrong with a put whatever it meets.
func (q *asked) checkPut(t *table, s *ql.Put) error {
	for _, pair := range s.ElseSet {
		if err := checkNew(t, pair.Value); err != nil {
			return err
		}
	}
	for _, d := range s.Docs {
		for _, pair := range d {
			if err := t.has(&pair.Path); err != nil {
				return err
			}
			if namesField(pair.Value) {
				return fenec.ErrQuery
			}
		}
	}
	return nil
}

func namesField(e ql.Expr) bool {
	found := false
	ql.Walk(e, func(e ql.Expr) bool {
		_, ok := e.(*ql.Path)
		found = found || ok
		return true
	})
	return found
}

// checkNew checks that what "new" is asked for is there.
func checkNew(t *table, e ql.Expr) (err error) {
	ql.Walk(e, func(e ql.Expr) bool {
		if p, ok := e.(*ql.Path); ok && p.Field == "new" && err == nil {
			err = t.has(&ql.Path{Field: p.Keys[0]})
		}
		return true
	})
	return err
}

// drafts returns what makes the documents of a put, one after the other.
func (q *asked) drafts(t *table, s *ql.Put) (out []func() (*draft, error), err error) {
	add := func(write func(*draft) error) {
		out = append(out, func() (*draft, error) {
			r := &draft{doc{}, map[string]bool{}}
			return r, write(r)
		})
	}
	for _, d := range s.Docs {
		add(func(r *draft) error {
			for _, pair := range d {
				v, err := (&scope{asked: q, t: t}).eval(pair.Value)
				if err == nil {
					err = r.write(t, &pair.Path, v)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if s.Param == nil {
		return out, nil
	}
	v, err := (&scope{asked: q}).eval(s.Param)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, item := range list {
		add(func(r *draft) error { return r.members(t, item) })
	}
	return out, nil
}

// members takes a document of a parameter.
func (r *draft) members(t *table, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fenec.ErrType
	}
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		parts := strings.Split(name, ".")
		if err := r.write(t, &ql.Path{Field: parts[0], Keys: parts[1:]}, object[name]); err != nil {
			return err
		}
	}
	return nil
}

// write writes one document and returns how many rows that has changed.
func (q *asked) write(t *table, s *ql.Put, r *draft) (int, error) {
	if err := r.fit(t); err != nil {
		return 0, err
	}
	for _, f := range t.fields {
		if f.Required && !r.named[f.Name.Text] {
			return 0, fenec.ErrType
		}
	}
	id := int64(0)
	if r.named["id"] {
		var ok bool
		if id, ok = r.d["id"].(int64); !ok || id < 1 {
			return 0, fenec.ErrType
		}
	}
	if s.IfAbsent {
		if held := q.inTheWay(t, id, r.d); held != 0 {
			if !s.HasElse {
				return 0, nil
			}
			return 1, q.change(t, held, s.ElseSet, r.d)
		}
	}
	switch {
	case id == 0:
		id = t.highest + 1
	case s.Insert && q.w.live(t, id) != nil:
		return 0, fenec.ErrDuplicate
	case t.docs[id] != nil && q.w.live(t, id) == nil:
		q.w.remove(t, id)
	}
	delete(r.d, "id")
	return 1, q.w.store(t, id, r.d)
}

// inTheWay returns the row that holds the id or a unique value of a document.
func (q *asked) inTheWay(t *table, id int64, d doc) int64 {
	if id != 0 && q.w.live(t, id) != nil {
		return id
	}
	for _, p := range t.unique() {
		if held := t.holder(&p, d, id); held != 0 && q.w.live(t, held) != nil {
			return held
		}
	}
	return 0
}

// change changes a row as the pairs of a set say.
func (q *asked) change(t *table, id int64, pairs ql.Document, refused doc) error {
	s := scope{asked: q, t: t, id: id, d: t.docs[id], refused: refused}
	r := &draft{doc{}, map[string]bool{}}
	for name, v := range s.d {
		r.d[name] = v
	}
	for i := range pairs {
		p := &pairs[i].Path
		if err := t.has(p); err != nil || p.Field == "id" {
			return fenec.ErrNotFound
		}
		v, err := s.eval(pairs[i].Value)
		if err != nil {
			return err
		}
		if err := r.write(t, p, v); err != nil {
			return err
		}
	}
	if err := r.fit(t); err != nil {
		return err
	}
	return q.w.store(t, id, r.d)
}

func (q *asked) set(s *ql.Set) outcome {
	return q.writePicked(s.Name.Text, picked{where: s.Where, order: s.Order, limit: s.Limit}, s.Returning, s.Require,
		func(t *table, id int64) (doc, error) {
			err := q.change(t, id, s.Pairs, nil)
			return t.docs[id], err
		})
}

func (q *asked) del(s *ql.Del) outcome {
	return q.writePicked(s.From.Text, picked{where: s.Where, order: s.Order, limit: s.Limit}, s.Returning, s.Require,
		func(t *table, id int64) (doc, error) {
			d := t.docs[id]
			q.w.remove(t, id)
			return d, nil
		})
}

// writePicked changes the rows that clauses pick, one by one, and answers what
// change returns of each.
func (q *asked) writePicked(name string, p picked, r *ql.Returning, want *int64, change func(*table, int64) (doc, error)) outcome {
	t, err := q.w.table(name)
	if err != nil {
		return failed(err)
	}
	var columns []ql.Column
	if r != nil {
		for i := range r.Paths {
			columns = append(columns, ql.Column{Expr: &r.Paths[i]})
		}
	}
	show, err := selectionOf(t, columns)
	if err != nil {
		return failed(err)
	}
	ids, out := q.pick(t, p)
	if out.err != nil {
		return out
	}
	var items []string
	for _, id := range ids {
		if t.docs[id] == nil {
			continue // it was expired, and has made way for another
		}
		d, err := change(t, id)
		if err != nil {
			return failed(err)
		}
		out.affected++
		if r != nil {
			row, err := show.row(&scope{asked: q, t: t, id: id, d: d})
			if err != nil {
				return failed(err)
			}
			items = append(items, row.String())
		}
	}
	if r != nil {
		out.columns, out.rows, out.json = show.names, len(items), listOf(items)
	}
	return out.require(want, out.affected)
}
