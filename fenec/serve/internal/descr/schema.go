package descr

import (
	"maps"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Schema is a set of definitions apart from any database.
type Schema struct {
	names  []string                    // in the order they came
	byName map[string]*catalog.Catalog // each with that one collection, so that a change costs what the collection does
}

func newSchema() *Schema { return &Schema{byName: map[string]*catalog.Catalog{}} }

// Of returns the schema of some of a database's definitions, without the server's
// own collections.
func Of(definitions []*catalog.Collection) (*Schema, error) {
	s := newSchema()
	for _, def := range definitions {
		if own(def.Name) {
			continue
		}
		cat, err := new(catalog.Catalog).Add(def)
		if err != nil {
			return nil, err
		}
		s.put(def.Name, cat)
	}
	return s, nil
}

// own reports whether a collection is one of the server's own.
func own(name string) bool { return strings.HasPrefix(name, "_") }

func (s *Schema) put(name string, cat *catalog.Catalog) {
	if s.byName[name] == nil {
		s.names = append(s.names, name)
	}
	s.byName[name] = cat
}

// find returns the collection of that name, or nil.
func (s *Schema) find(name string) *catalog.Collection {
	if cat := s.byName[name]; cat != nil {
		return cat.Find(name)
	}
	return nil
}

// named returns the catalog of the collection of that name.
func (s *Schema) named(name string) (*catalog.Catalog, error) {
	if cat := s.byName[name]; cat != nil {
		return cat, nil
	}
	return nil, fault.New(fault.NotFound, "no collection %.80q", name)
}

func (s *Schema) clone() *Schema {
	return &Schema{slices.Clone(s.names), maps.Clone(s.byName)}
}

// run does what a statement does to the schema. Statements about documents do
// nothing, and neither do those about collections of the server's own.
func (s *Schema) run(st ql.Statement) error {
	switch st := st.(type) {
	case *ql.CreateCollection:
		return s.create(st)
	case *ql.DropCollection:
		return s.drop(st)
	case *ql.AlterCollection:
		return s.alter(st)
	case *ql.CreateIndex:
		return s.createIndex(st)
	}
	return nil
}

func (s *Schema) create(st *ql.CreateCollection) error {
	name := st.Name.Text
	switch {
	case own(name), st.IfNotExists && s.byName[name] != nil:
		return nil
	case s.byName[name] != nil:
		return fault.New(fault.Exists, "collection %.80q is there already", name)
	}
	cat, _, err := new(catalog.Catalog).Create(st)
	if err == nil {
		s.put(name, cat)
	}
	return err
}

func (s *Schema) drop(st *ql.DropCollection) error {
	name := st.Name.Text
	if own(name) {
		return nil
	}
	if _, err := s.named(name); err != nil {
		if st.IfExists {
			return nil
		}
		return err
	}
	delete(s.byName, name)
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
	return nil
}

func (s *Schema) alter(st *ql.AlterCollection) error {
	name := st.Name.Text
	if own(name) {
		return nil
	}
	cat, err := s.named(name)
	if err != nil {
		return err
	}
	if cat, _, _, err = cat.Alter(st); err != nil {
		return err
	}
	s.put(name, cat)
	return nil
}

func (s *Schema) createIndex(st *ql.CreateIndex) error {
	name := st.On.Text
	if own(name) {
		return nil
	}
	cat, err := s.named(name)
	if err != nil {
		return err
	}
	cat, _, _, _, err = cat.CreateIndex(st)
	switch {
	case st.IfNotExists && fault.KindOf(err) == fault.Exists:
		return nil
	case err != nil:
		return err
	}
	s.put(name, cat)
	return nil
}
