package catalog

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Alter returns the catalog with a collection changed as def says, and that
// collection before and after. What is not allowed is an error of the kind the
// language gives it.
func (c *Catalog) Alter(def *ql.AlterCollection) (out *Catalog, before, after *Collection, err error) {
	if before, err = c.Collection(def.Name.Text); err != nil {
		return nil, nil, nil, err
	}
	e := c.edit(before)
	switch def.Kind {
	case ql.AlterAdd:
		err = e.add(def.Add)
	case ql.AlterDrop:
		err = e.drop(def.Field.Text)
	case ql.AlterRename:
		err = e.rename(def.Field.Text, def.To.Text)
	case ql.AlterIndex:
		err = e.reindex(def.Field.Text, def.Index)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	out, after, err = e.end()
	return out, before, after, err
}

// CreateIndex returns the catalog with an index more, its collection before and
// after, and the index. A field or path that has one is a fault.Exists, whether
// or not def says "if not exists".
func (c *Catalog) CreateIndex(def *ql.CreateIndex) (out *Catalog, before, after *Collection, x *Index, err error) {
	if before, err = c.Collection(def.On.Text); err != nil {
		return nil, nil, nil, nil, err
	}
	e := c.edit(before)
	if x, err = e.index(&def.Path, &def.Index); err != nil {
		return nil, nil, nil, nil, err
	}
	out, after, err = e.end()
	return out, before, after, x, err
}

// edit is a collection on its way to another definition.
type edit struct {
	Collection
	catalog *Catalog
	next    uint32 // free number
}

func (c *Catalog) edit(col *Collection) *edit {
	return &edit{
		Collection: Collection{
			Number: col.Number, Name: col.Name, RowSpace: col.RowSpace,
			Fields: slices.Clone(col.Fields), Paths: slices.Clone(col.Paths), Building: slices.Clone(col.Building),
		},
		catalog: c, next: c.Next(),
	}
}

// end returns the catalog with the collection as it is now.
func (e *edit) end() (*Catalog, *Collection, error) {
	after := e.Collection
	if err := after.check(); err != nil {
		return nil, nil, err
	}
	if e.next > maxNumber+1 {
		return nil, nil, numbersUsedUp()
	}
	return e.catalog.swap(after.seal(), e.next), &after, nil
}

// find returns the place of a field.
func (e *edit) find(name string) (int, error) {
	if i, ok := e.Position(name); ok {
		return i, nil
	}
	return 0, e.NoField(name)
}

// free checks that a field can be called so.
func (e *edit) free(name string) error {
	if err := checkNewName(name); err != nil {
		return err
	}
	if _, taken := e.Position(name); taken {
		return fault.New(fault.Exists, "collection %q has a field %q already", e.Name, name)
	}
	return nil
}

func (e *edit) add(def *ql.FieldDef) error {
	if err := e.free(def.Name.Text); err != nil {
		return err
	}
	if def.Required {
		return fault.New(fault.Query, "field %q: a field that is added cannot be required, the documents there lack it", def.Name.Text)
	}
	f, err := defineField(def, len(e.Fields))
	if err != nil {
		return err
	}
	if f.Index != nil {
		f.Index.Space = f.Index.Kind.space(e.next)
		e.next++
	}
	e.Fields = append(e.Fields, f)
	return nil
}

func (e *edit) drop(name string) error {
	at, err := e.find(name)
	if err != nil {
		return err
	}
	e.Fields[at] = Field{Type: e.Fields[at].Type}
	on := func(x *Index) bool { return x.Field == at }
	e.Paths, e.Building = slices.DeleteFunc(e.Paths, on), slices.DeleteFunc(e.Building, on)
	return nil
}

func (e *edit) rename(from, to string) error {
	at, err := e.find(from)
	if from == ID {
		err = checkFieldName(from)
	}
	if err != nil {
		return err
	}
	if err := e.free(to); err != nil {
		return err
	}
	e.Fields[at].Name = to
	return nil
}

// reindex turns an ordered index into one of another kind, which has the same
// entries.
func (e *edit) reindex(name string, def *ql.IndexDef) error {
	at, err := e.find(name)
	if err != nil {
		return err
	}
	f := &e.Fields[at]
	if f.Index == nil || !f.Index.Kind.ordered() {
		return f.wrong(fault.New(fault.Query, "there is no ordered index to alter"))
	}
	if !indexKinds[def.Kind].ordered() {
		return f.wrong(fault.New(fault.Query, "an index can be altered to @ttl and @sorted, not to @%s", def.Kind))
	}
	x, err := defineIndex(def, f.Type)
	if err != nil {
		return f.wrong(err)
	}
	x.Field, x.Space = at, f.Index.Space
	f.Index = x
	return nil
}

// index makes an index on a field, or on a path below it.
func (e *edit) index(path *ql.Path, def *ql.IndexDef) (x *Index, err error) {
	at, err := e.find(path.Field)
	if err != nil {
		return nil, err
	}
	if len(path.Keys) > 0 {
		x, err = e.pathIndex(path, at, def)
	} else {
		x, err = e.fieldIndex(at, def)
	}
	if err != nil {
		return nil, err
	}
	x.Space = x.Kind.space(e.next)
	e.next++
	return x, nil
}

func (e *edit) fieldIndex(at int, def *ql.IndexDef) (x *Index, err error) {
	f := &e.Fields[at]
	if f.Index != nil {
		return nil, indexed(f.Name)
	}
	if x, err = defineIndex(def, f.Type); err != nil {
		return nil, f.wrong(err)
	}
	x.Field, f.Index = at, x
	return x, nil
}

func (e *edit) pathIndex(path *ql.Path, at int, def *ql.IndexDef) (*Index, error) {
	if e.PathIndex(at, path.Keys) != nil {
		return nil, indexed(path.String())
	}
	x, err := definePathIndex(def, at, path.Keys)
	if err != nil {
		return nil, e.Fields[at].wrong(err)
	}
	e.Paths = append(e.Paths, x)
	return x, nil
}
