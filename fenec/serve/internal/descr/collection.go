package descr

import (
	"fmt"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// collections reads the form that is a list of collections.
func (r *reader) collections(o object) (list []ql.Statement, where []string) {
	for i, v := range o.list("collections") {
		at := fmt.Sprintf("collections[%d]", i)
		for _, st := range r.collection(at, v) {
			list, where = append(list, st), append(where, at)
		}
		if r.err != nil {
			break
		}
	}
	return list, where
}

// collection reads a collection as the statements that declare it.
func (r *reader) collection(at string, v value.Value) []ql.Statement {
	o := r.object(at, v, "name", "fields")
	create := &ql.CreateCollection{Name: r.collectionName(o)}
	list := []ql.Statement{create}
	for i, v := range o.list("fields") {
		f := r.object(fmt.Sprintf("%s.fields[%d]", at, i), v, "name", "type", "required", "collate", "index", "paths")
		create.Fields = append(create.Fields, r.field(f))
		list = append(list, r.paths(f, create.Name)...)
		if r.err != nil {
			break
		}
	}
	return list
}

// collectionName reads the name of a collection: what the language takes for one.
func (r *reader) collectionName(o object) ql.Name {
	name := o.needed("name")
	st, err := ql.Parse("create collection " + name + " (f int)")
	c, ok := st.(*ql.CreateCollection)
	if err != nil || !ok || c.Name.Text != name || len(c.Fields) != 1 || c.IfNotExists {
		o.wants("name", "the name of a collection")
	}
	r.notOwn(o.at, name)
	return ql.Name{Text: name}
}

// field reads a field, without what is on paths below it.
func (r *reader) field(o object) ql.FieldDef {
	name, typ := o.needed("name"), o.needed("type")
	f := ql.FieldDef{Name: ql.Name{Text: name}, Required: o.flag("required")}
	if parseField(name, "int") == nil {
		o.wants("name", "the name of a field")
	}
	if def := parseField("f", typ); def != nil {
		f.Type = def.Type
	} else {
		o.wants("type", "a type")
	}
	f.Collate, _ = o.text("collate")
	f.Index = r.index(o)
	return f
}

// parseField returns the declaration of a field by its name and type alone, nil if
// they are not just these.
func parseField(name, typ string) *ql.FieldDef {
	st, err := ql.Parse("create collection c (" + name + " " + typ + ")")
	if err != nil {
		return nil
	}
	c, ok := st.(*ql.CreateCollection)
	if !ok || len(c.Fields) != 1 {
		return nil
	}
	f := &c.Fields[0]
	if f.Name.Text != name || f.Required || f.Collate != "" || f.Index != nil {
		return nil
	}
	return f
}

// paths reads the indexes on paths below a field as the statements that make them.
func (r *reader) paths(field object, collection ql.Name) (list []ql.Statement) {
	name, _ := field.text("name")
	for i, v := range field.list("paths") {
		o := r.object(fmt.Sprintf("%s.paths[%d]", field.at, i), v, "path", "index")
		path := r.path(o)
		path.Field = name
		x := r.index(o)
		if x == nil {
			o.wants("index", "an object")
			return nil
		}
		list = append(list, &ql.CreateIndex{On: collection, Path: path, Index: *x})
	}
	return list
}

// path reads the keys of a path below a field, joined by dots.
func (r *reader) path(o object) ql.Path {
	text := o.needed("path")
	st, err := ql.Parse("create index on c (f." + text + ") @hash")
	x, ok := st.(*ql.CreateIndex)
	if err != nil || !ok || x.Path.Field != "f" || strings.Join(x.Path.Keys, ".") != text {
		o.wants("path", "a path")
		return ql.Path{}
	}
	return x.Path
}
