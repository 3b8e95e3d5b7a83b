package fenec_test

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// world is what a database holds, as plain Go maps. It is the oracle of the
// model test: it carries out statements as they are parsed, row by row, without
// any index.
type world struct {
	cols  map[string]*table
	names []string // of cols, the oldest first
	seq   uint64
	now   moment

	// What the statements since the last reset of these have done, without the
	// collections whose names begin with _.
	written, rows int
}

// table is one collection. It is changed in place by the world that has it,
// after a clone.
type table struct {
	name    string
	fields  []*modelField // which are never changed, only replaced
	paths   []pathIndex
	docs    map[int64]doc // the expired ones too
	sorted  []int64       // the ids of docs; nil when that is not known
	highest int64         // id ever used
}

// doc is a document; it is replaced, never changed.
type doc map[string]any

// modelField is a declared field.
type modelField struct {
	ql.FieldDef
	index string       // its kind, or ""
	def   *ql.IndexDef // as it was declared; nil without an index
	life  moment       // of a ttl
	bare  bool         // the database with few indexes has one here
}

// pathIndex is an index on a path.
type pathIndex struct {
	field, kind string
	keys        []string
}

// outcome is what a statement comes to.
type outcome struct {
	err      error // the kind
	vague    bool  // which rows are looked at is the database's choice, and so is whether one fails
	affected int
	rows     int      // answered
	columns  []string // nil unless the answer is rows
	json     string   // the answer; "" for a message
	plan     string   // the last row of an explain, whose others are free; else ""
}

func failed(err error) outcome { return outcome{err: err} }

func newWorld() *world { return &world{cols: map[string]*table{}} }

func (w *world) clone() *world {
	c := *w
	c.names = slices.Clone(w.names)
	c.cols = make(map[string]*table, len(w.cols))
	for name, t := range w.cols {
		u := *t
		u.fields, u.paths, u.docs = slices.Clone(t.fields), slices.Clone(t.paths), maps.Clone(t.docs)
		c.cols[name] = &u
	}
	return &c
}

func (w *world) table(name string) (*table, error) {
	if t := w.cols[name]; t != nil {
		return t, nil
	}
	return nil, fenec.ErrNotFound
}

// errUnsure is what the oracle panics with where it cannot tell what happens.
var errUnsure = errors.New("the model does not know")

// run carries out a statement. What a failed one has done until then is for the
// caller to throw away.
func (w *world) run(st ql.Statement, params []any) (out outcome) {
	defer func() {
		if x := recover(); x == errUnsure {
			out = outcome{err: fenec.ErrQuery, vague: true}
		} else if x != nil {
			panic(x)
		}
	}()
	q := &asked{w: w, params: params, inners: map[*ql.Get][]any{}}
	switch s := st.(type) {
	case *ql.CreateCollection:
		return failed(w.create(s))
	case *ql.DropCollection:
		return failed(w.drop(s))
	case *ql.AlterCollection:
		return failed(w.alter(s))
	case *ql.CreateIndex:
		return failed(w.createIndex(s))
	case *ql.Put:
		return q.put(s)
	case *ql.Set:
		return q.set(s)
	case *ql.Del:
		return q.del(s)
	case *ql.Get:
		return q.get(s)
	case *ql.Explain:
		return q.explain(s)
	case *ql.Describe:
		return w.describe(s.Name.Text)
	case *ql.Collections:
		return w.describe(w.names...)
	}
	panic("the model does not know this statement")
}

// changed counts one document written or deleted.
func (w *world) changed(name string, rows int) {
	w.seq++
	if !strings.HasPrefix(name, "_") {
		w.written++
		w.rows += rows
	}
}

// field returns the field of that name, or nil.
func (t *table) field(name string) *modelField {
	for _, f := range t.fields {
		if f.Name.Text == name {
			return f
		}
	}
	return nil
}

// has checks that the first part of a path is there.
func (t *table) has(p *ql.Path) error {
	if p.Field == "id" || t.field(p.Field) != nil {
		return nil
	}
	return fenec.ErrNotFound
}

// ttl returns the field by which rows expire, or nil.
func (t *table) ttl() *modelField {
	for _, f := range t.fields {
		if f.index == "ttl" {
			return f
		}
	}
	return nil
}

// expired reports whether a document is expired.
func (w *world) expired(t *table, d doc) bool {
	f := t.ttl()
	if f == nil || d[f.Name.Text] == nil {
		return false
	}
	return d[f.Name.Text].(moment) <= w.now-f.life
}

// live returns the document with that id unless it is expired.
func (w *world) live(t *table, id int64) doc {
	if d := t.docs[id]; d != nil && !w.expired(t, d) {
		return d
	}
	return nil
}

// ids returns all ids of t, expired ones included.
func (t *table) ids() []int64 {
	if t.sorted == nil {
		t.sorted = slices.Sorted(maps.Keys(t.docs))
	}
	return t.sorted
}

// unique returns the paths whose values no two rows share.
func (t *table) unique() []ql.Path {
	var out []ql.Path
	for _, f := range t.fields {
		if f.index == "unique" {
			out = append(out, ql.Path{Field: f.Name.Text})
		}
	}
	for _, x := range t.paths {
		if x.kind == "unique" {
			out = append(out, ql.Path{Field: x.field, Keys: x.keys})
		}
	}
	return out
}

// at returns what d holds at a path.
func (d doc) at(p *ql.Path) any { return getPath(d[p.Field], p.Keys) }

// holder returns the row other than the one with that id that holds a value of d
// at the path, 0 if none does.
func (t *table) holder(p *ql.Path, d doc, id int64) int64 {
	v := d.at(p)
	if v == nil {
		return 0
	}
	for _, other := range t.ids() {
		if other != id && equals(t.docs[other].at(p), v) {
			return other
		}
	}
	return 0
}

// store puts d in the place of id. Expired rows that hold its unique values go.
func (w *world) store(t *table, id int64, d doc) error {
	for _, p := range t.unique() {
		held := t.holder(&p, d, id)
		switch {
		case held == 0:
		case w.live(t, held) != nil:
			return fenec.ErrDuplicate
		default:
			w.remove(t, held)
		}
	}
	rows := 1
	if t.docs[id] != nil {
		rows = 0
	}
	t.docs[id], t.sorted = d, nil
	t.highest = max(t.highest, id)
	w.changed(t.name, rows)
	return nil
}

func (w *world) remove(t *table, id int64) {
	delete(t.docs, id)
	t.sorted = nil
	w.changed(t.name, -1)
}

// sweep removes the expired rows and returns how many they were.
func (w *world) sweep() (n int) {
	for _, t := range w.cols {
		n += w.sweepTable(t)
	}
	return n
}

func (w *world) sweepTable(t *table) (n int) {
	for id, d := range t.docs {
		if w.expired(t, d) {
			w.remove(t, id)
			n++
		}
	}
	return n
}

// sameKind reports whether err is of the kind want, or both are nil.
func sameKind(err, want error) bool {
	if want == nil {
		return err == nil
	}
	return errors.Is(err, want)
}
