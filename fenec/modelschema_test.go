package fenec_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func (w *world) create(s *ql.CreateCollection) error {
	if w.cols[s.Name.Text] != nil {
		if s.IfNotExists {
			return nil
		}
		return fenec.ErrExists
	}
	t := &table{name: s.Name.Text, docs: map[int64]doc{}}
	for i := range s.Fields {
		if err := t.add(&s.Fields[i]); err != nil {
			return err
		}
	}
	w.cols[t.name] = t
	w.names = append(w.names, t.name)
	w.seq++
	return nil
}

// add adds a field.
func (t *table) add(def *ql.FieldDef) error {
	switch {
	case def.Name.Text == "id":
		return fenec.ErrQuery
	case t.field(def.Name.Text) != nil:
		return fenec.ErrExists
	}
	f := &modelField{FieldDef: *def}
	t.fields = append(t.fields, f)
	if def.Index == nil {
		return nil
	}
	return t.index(f, def.Index)
}

// units are the units of periods in milliseconds.
var units = map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}

// index gives f, the last to change, an index.
func (t *table) index(f *modelField, def *ql.IndexDef) error {
	if !fits(def.Kind, &f.Type) {
		return fenec.ErrType
	}
	f.bare = keptBare(def.Kind, &f.Type)
	f.index, f.def = def.Kind.String(), def
	if def.Kind != ql.IndexTTL {
		return nil
	}
	for _, other := range t.fields {
		if other.Name != f.Name && other.index == "ttl" {
			return fenec.ErrQuery
		}
	}
	f.life = moment(def.TTL.N * units[def.TTL.Unit])
	return nil
}

// fits reports whether a field of that type can have such an index.
func fits(kind ql.IndexKind, t *ql.TypeDef) bool {
	switch kind {
	case ql.IndexSorted:
		return slices.Contains([]ql.TypeKind{ql.TypeInt, ql.TypeFloat, ql.TypeText, ql.TypeTimestamp}, t.Kind)
	case ql.IndexTTL:
		return t.Kind == ql.TypeTimestamp
	case ql.IndexGeo:
		return t.Kind == ql.TypeGeo
	case ql.IndexText:
		return t.Kind == ql.TypeText
	case ql.IndexHNSW:
		return t.Kind == ql.TypeVector
	case ql.IndexInverted:
		return t.Kind == ql.TypeSparse
	}
	return t.Kind != ql.TypeGeo
}

func (w *world) drop(s *ql.DropCollection) error {
	t := w.cols[s.Name.Text]
	if t == nil {
		if s.IfExists {
			return nil
		}
		return fenec.ErrNotFound
	}
	if t.name[0] != '_' {
		w.rows -= len(t.docs)
	}
	delete(w.cols, t.name)
	w.names = slices.DeleteFunc(w.names, func(name string) bool { return name == t.name })
	w.seq++
	return nil
}

func (w *world) alter(s *ql.AlterCollection) error {
	t, err := w.table(s.Name.Text)
	if err != nil {
		return err
	}
	w.seq++
	if s.Kind == ql.AlterAdd {
		err := t.add(s.Add)
		if s.Add.Required && !errors.Is(err, fenec.ErrExists) {
			return fenec.ErrQuery
		}
		return err
	}
	f := t.field(s.Field.Text)
	if f == nil {
		return fenec.ErrNotFound
	}
	switch s.Kind {
	case ql.AlterDrop:
		if len(t.fields) == 1 {
			return fenec.ErrQuery
		}
		t.dropField(f)
	case ql.AlterRename:
		switch {
		case s.To.Text == "id":
			return fenec.ErrQuery
		case t.field(s.To.Text) != nil:
			return fenec.ErrExists
		}
		t.rename(f, s.To)
	default:
		return t.reindex(f, s.Index)
	}
	return nil
}

func (t *table) dropField(f *modelField) {
	t.fields = slices.DeleteFunc(t.fields, func(o *modelField) bool { return o == f })
	t.paths = slices.DeleteFunc(t.paths, func(x pathIndex) bool { return x.field == f.Name.Text })
	t.move(f.Name.Text, "")
}

func (t *table) rename(f *modelField, to ql.Name) {
	renamed := *f
	renamed.Name = to
	t.fields[slices.Index(t.fields, f)] = &renamed
	for i := range t.paths {
		if t.paths[i].field == f.Name.Text {
			t.paths[i].field = to.Text
		}
	}
	t.move(f.Name.Text, to.Text)
}

// move gives every document's value another name, or drops it.
func (t *table) move(from, to string) {
	for id, old := range t.docs {
		d := doc{}
		for name, v := range old {
			if name == from {
				name = to
			}
			if name != "" {
				d[name] = v
			}
		}
		t.docs[id] = d
	}
}

// reindex turns an ordered index into another one.
func (t *table) reindex(f *modelField, def *ql.IndexDef) error {
	if f.index != "sorted" && f.index != "ttl" {
		return fenec.ErrQuery
	}
	changed := *f
	t.fields[slices.Index(t.fields, f)] = &changed
	if err := t.index(&changed, def); err != nil {
		return err
	}
	changed.bare = f.bare || def.Kind == ql.IndexTTL
	return nil
}

func (w *world) createIndex(s *ql.CreateIndex) error {
	t, err := w.table(s.On.Text)
	if err != nil {
		return err
	}
	f := t.field(s.Path.Field)
	if f == nil {
		return fenec.ErrNotFound
	}
	if t.indexed(&s.Path) {
		if s.IfNotExists {
			return nil
		}
		return fenec.ErrExists
	}
	if len(s.Path.Keys) > 0 {
		err = t.addPath(f, s)
	} else {
		changed := *f
		t.fields[slices.Index(t.fields, f)] = &changed
		err = t.index(&changed, &s.Index)
	}
	if err == nil && s.Index.Kind == ql.IndexUnique {
		w.sweepTable(t)
		err = w.distinct(t, &s.Path)
	}
	w.seq++
	return err
}

// indexed reports whether a field or path has an index.
func (t *table) indexed(p *ql.Path) bool {
	if len(p.Keys) == 0 {
		return t.field(p.Field).index != ""
	}
	return slices.ContainsFunc(t.paths, func(x pathIndex) bool {
		return x.field == p.Field && slices.Equal(x.keys, p.Keys)
	})
}

func (t *table) addPath(f *modelField, s *ql.CreateIndex) error {
	if !slices.Contains([]ql.IndexKind{ql.IndexHash, ql.IndexUnique, ql.IndexSorted}, s.Index.Kind) {
		return fenec.ErrQuery
	}
	if f.Type.Kind != ql.TypeJSON {
		return fenec.ErrType
	}
	t.paths = append(t.paths, pathIndex{f.Name.Text, s.Index.Kind.String(), s.Path.Keys})
	return nil
}

// distinct checks that no two rows share a value.
func (w *world) distinct(t *table, p *ql.Path) error {
	for id, d := range t.docs {
		if t.holder(p, d, id) != 0 {
			return fenec.ErrDuplicate
		}
	}
	return nil
}

// describe answers the schemas of collections.
func (w *world) describe(names ...string) outcome {
	var items []string
	for _, name := range names {
		t, err := w.table(name)
		if err != nil {
			return failed(err)
		}
		items = append(items, t.schema())
	}
	return outcome{json: listOf(items)}
}

func (t *table) schema() string {
	var row jsonRow
	row.add("name", quoted(t.name))
	row.add("fields", jsonList(len(t.fields), func(i int) string { return t.fields[i].schema() }))
	if len(t.paths) > 0 {
		row.add("paths", jsonList(len(t.paths), func(i int) string {
			x := t.paths[i]
			p := ql.Path{Field: x.field, Keys: x.keys}
			return jsonRow{`"path":` + quoted(p.String()), `"index":` + quoted(x.kind)}.String()
		}))
	}
	return row.String()
}

func (f *modelField) schema() string {
	var row jsonRow
	row.add("name", quoted(f.Name.Text))
	row.add("type", quoted(typeText(&f.Type)))
	if f.index == "" {
		row.add("index", "null")
	} else {
		row.add("index", quoted(f.spelt()))
	}
	row.add("required", strconv.FormatBool(f.Required))
	if f.Collate != "" {
		row.add("collate", quoted(f.Collate))
	}
	return row.String()
}

func period(ms int64) string {
	for _, unit := range []string{"d", "h", "m", "s"} {
		if ms%units[unit] == 0 {
			return fmt.Sprint(ms/units[unit], unit)
		}
	}
	return fmt.Sprint(ms, "ms")
}

// typeText returns a type as it is declared.
func typeText(t *ql.TypeDef) string {
	switch t.Kind {
	case ql.TypeList:
		return "[" + typeText(t.Elem) + "]"
	case ql.TypeVector:
		if t.Half {
			return fmt.Sprintf("vector<%d, f16>", t.Dim)
		}
		return fmt.Sprintf("vector<%d>", t.Dim)
	case ql.TypeSparse:
		return fmt.Sprintf("sparse<%d>", t.Dim)
	}
	return t.Kind.String()
}
