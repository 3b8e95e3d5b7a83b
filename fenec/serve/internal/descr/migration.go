package descr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// migration is what a description wants to have done once: statements, or the
// rebuild of a field.
type migration struct {
	text       string         // as it is recorded
	statements []ql.Statement // nil for a rebuild
	rebuild    rebuild
}

// rebuild is a field to be made anew as it is declared, with the values it has.
type rebuild struct{ collection, field string }

// place returns where the i-th migration is in the description.
func place(i int) string { return fmt.Sprintf("migration %d", i+1) }

func (r *reader) migrations(o object) []migration {
	var list []migration
	for i, v := range o.list("migrations") {
		if v.Kind() == value.KindText {
			list = append(list, r.changes(place(i), v.AsText()))
		} else {
			list = append(list, r.rebuild(place(i), v))
		}
	}
	return list
}

// changes reads a migration that is one or more statements.
func (r *reader) changes(at, text string) migration {
	list, err := ql.ParseScript(text)
	if err != nil {
		r.set(wrong(at, err))
	}
	for _, st := range list {
		switch st.(type) {
		case *ql.CreateCollection, *ql.DropCollection, *ql.AlterCollection, *ql.CreateIndex, *ql.Put, *ql.Set, *ql.Del:
		default:
			r.fail(at, "want statements that change something within a block, got %.200q", ql.Print(st))
		}
		if ql.Params(st) > 0 {
			r.fail(at, "there are no values for parameters")
		}
	}
	return migration{text: strings.TrimSpace(text), statements: list}
}

func (r *reader) rebuild(at string, v value.Value) migration {
	o := r.object(at, v, "rebuild")
	o = r.object(at+": rebuild", o.get("rebuild"), "collection", "field")
	b := rebuild{o.needed("collection"), o.needed("field")}
	text := value.AppendJSONString([]byte(`{"rebuild":{"collection":`), b.collection)
	text = value.AppendJSONString(append(text, `,"field":`...), b.field)
	return migration{text: string(append(text, "}}"...)), rebuild: b}
}

// steps returns the statements of a migration that is run on the schema s to get
// to the declared one.
func (m *migration) steps(s, declared *Schema) ([]ql.Statement, error) {
	if m.statements != nil {
		return m.statements, nil
	}
	return m.rebuild.steps(s, declared)
}

// steps returns the statements that put the field aside under another name, make it
// anew, take its values over as an update would, and drop what was put aside.
func (b rebuild) steps(s, declared *Schema) ([]ql.Statement, error) {
	have, at, err := s.field(b)
	if err != nil {
		return nil, err
	}
	want, to, err := declared.field(b)
	if err != nil {
		return nil, err
	}
	aside, collection := spare(have, want), "alter collection "+b.collection
	texts := []string{collection + " rename field " + b.field + " to " + aside}
	if x := have.Fields[at].Index; x != nil && x.Kind == catalog.TTL {
		// A collection has one of these at most, and the new field may need it.
		texts = append(texts, collection+" alter field "+aside+" @sorted")
	}
	texts = append(texts, addField(optional(want, to), to), "set "+b.collection+" {"+b.field+": "+aside+"}")
	_, paths := indexesOf(want, to)
	for _, x := range paths {
		texts = append(texts, createIndex(want, x))
	}
	return parseAll(append(texts, collection+" drop field "+aside))
}

// field returns the collection and the place of the field that a rebuild is of.
func (s *Schema) field(b rebuild) (*catalog.Collection, int, error) {
	c := s.find(b.collection)
	if c == nil {
		return nil, 0, fault.New(fault.NotFound, "no collection %.80q", b.collection)
	}
	at, ok := c.Position(b.field)
	if !ok {
		return nil, 0, c.NoField(b.field)
	}
	return c, at, nil
}

// optional returns c with a field that is not required, as one that is added
// cannot be.
func optional(c *catalog.Collection, at int) *catalog.Collection {
	out := *c
	out.Fields = slices.Clone(c.Fields)
	out.Fields[at].Required = false
	return &out
}

// spare returns a name that no field has in either collection.
func spare(a, b *catalog.Collection) string {
	for n := 1; ; n++ {
		name := "rebuilt" + strconv.Itoa(n)
		_, inA := a.Position(name)
		_, inB := b.Position(name)
		if !inA && !inB {
			return name
		}
	}
}

func parseAll(texts []string) ([]ql.Statement, error) {
	list := make([]ql.Statement, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = ql.Parse(text); err != nil {
			return nil, err
		}
	}
	return list, nil
}
