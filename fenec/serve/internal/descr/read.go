package descr

import (
	"context"
	"errors"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// format is the one format of descriptions that there is.
const format = 1

// Description is a schema as somebody wants it, and how to get there from
// earlier ones.
type Description struct {
	schema     *Schema
	migrations []migration // the first is number 1
}

// Read reads a description, in either form. It returns early when ctx ends.
func Read(ctx context.Context, body []byte) (*Description, error) {
	v, err := value.ParseJSON(body)
	if err != nil {
		return nil, err
	}
	var r reader
	o := r.object("the description", v, "format", "collections", "fenecql", "migrations")
	statements, where := r.statements(o)
	migrations := r.migrations(o)
	if r.err != nil {
		return nil, r.err
	}
	d := &Description{schema: newSchema(), migrations: migrations}
	for i, st := range statements {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := d.schema.run(st); err != nil {
			return nil, wrong(where[i], err)
		}
	}
	return d, nil
}

// wrong returns an error as one of what is described at a place: of kind
// fault.Query, whatever its own kind is.
func wrong(at string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return fault.New(fault.Query, "%s: %s", at, f.Msg)
	}
	return err
}

// statements returns the statements that declare the schema, and for each where it
// comes from.
func (r *reader) statements(o object) (list []ql.Statement, where []string) {
	if n, ok := o.whole("format", 0); r.err == nil && (!ok || n != format) {
		r.fail(o.at, `want "format": %d`, format)
	}
	collections, text := o.get("collections"), o.get("fenecql")
	switch {
	case r.err != nil:
	case collections.IsNull() == text.IsNull():
		r.fail(o.at, `want either "collections" or "fenecql"`)
	case text.IsNull():
		return r.collections(o)
	default:
		return r.script(o)
	}
	return nil, nil
}

// script reads the form that is FenecQL.
func (r *reader) script(o object) (list []ql.Statement, where []string) {
	text, _ := o.text("fenecql")
	if r.err != nil || strings.TrimSpace(text) == "" {
		return nil, nil
	}
	list, err := ql.ParseScript(text)
	if err != nil {
		r.set(wrong("fenecql", err))
		return nil, nil
	}
	for i, st := range list {
		list[i] = r.declares(st)
		where = append(where, "fenecql")
	}
	return list, where
}

// declares returns a statement of the FenecQL form without its "if not exists":
// a description that declares something twice is wrong.
func (r *reader) declares(st ql.Statement) ql.Statement {
	switch st := st.(type) {
	case *ql.CreateCollection:
		r.notOwn("fenecql", st.Name.Text)
		return &ql.CreateCollection{Name: st.Name, Fields: st.Fields}
	case *ql.CreateIndex:
		r.notOwn("fenecql", st.On.Text)
		return &ql.CreateIndex{On: st.On, Path: st.Path, Index: st.Index}
	}
	r.fail("fenecql", `want "create collection" and "create index" only, got %.200q`, ql.Print(st))
	return st
}

func (r *reader) notOwn(at, name string) {
	if own(name) {
		r.fail(at, "collection %.80q: names that begin with an underscore are the server's own", name)
	}
}
