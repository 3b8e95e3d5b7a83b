package openapi

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// collection is one whose routes and schemas are described.
type collection struct {
	*catalog.Collection
	paths map[string]*pathItem
	write bool
}

// add adds what there is for the collection.
func (c collection) add(schemas map[string]*schema) {
	schemas[c.component("row")] = c.row()
	schemas[c.component("document")] = c.document()
	schemas[c.component("change")] = c.change()
	path := "/" + url.PathEscape(c.Name)
	c.paths[path] = &pathItem{Get: c.read()}
	if c.write {
		c.paths[path] = &pathItem{Get: c.read(), Post: c.insert(),
			Patch: c.update("update", "Changes the documents that the filters find."),
			Put:   c.update("put", "The same as PATCH."), Delete: c.remove("delete", "Deletes the documents that the filters find.")}
		c.paths[path+"/all"] = &pathItem{Patch: c.all(c.update("updateAll", "Changes every document.")),
			Put: c.all(c.update("putAll", "The same as PATCH.")), Delete: c.all(c.remove("deleteAll", "Deletes every document."))}
	}
	if near := c.with(nearable); len(near) > 0 {
		c.paths[path+"/near"] = &pathItem{Post: c.near(near)}
	}
	c.paths[path+"/changes"] = &pathItem{Get: c.changes()}
}

// component returns the name of a schema of the collection, in the letters that
// such a name may have: others are written as their number between dots, which the
// name of a collection has none of.
func (c collection) component(what string) string {
	var b strings.Builder
	b.WriteString(what + ".")
	for _, r := range c.Name {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, ".%x.", r)
		}
	}
	return b.String()
}

func (c collection) ref(what string) *schema { return refTo(c.component(what)) }

// with returns the names of the fields that pass.
func (c collection) with(passes func(*catalog.Field) bool) (names []string) {
	for i := range c.Fields {
		if f := &c.Fields[i]; !f.Dropped() && passes(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

func nearable(f *catalog.Field) bool {
	return f.Type.Is(value.BaseVector) || f.Type.Is(value.BaseSparse) || f.Type.Is(value.BaseGeo)
}

func (c collection) properties(of func(value.Type) *schema) map[string]*schema {
	m := map[string]*schema{}
	for i := range c.Fields {
		if f := &c.Fields[i]; !f.Dropped() {
			m[f.Name] = of(f.Type)
		}
	}
	return m
}

// row is a document as answers have it: with what was selected.
func (c collection) row() *schema {
	m := c.properties(output)
	m[catalog.ID] = whole(0)
	return object(m)
}

// document is one to be inserted.
func (c collection) document() *schema {
	m := c.properties(input)
	m[catalog.ID] = described(whole(0), "drawn by the database if it is left out")
	return object(m, c.with(func(f *catalog.Field) bool { return f.Required })...)
}

// change is the fields that an update sets.
func (c collection) change() *schema { return object(c.properties(input)) }

func (c collection) operation(verb, summary string) *operation {
	return &operation{ID: verb + "_" + c.Name, Summary: summary, Tags: []string{c.Name}}
}

func (c collection) read() *operation {
	o := c.operation("read", "Reads the documents that the filters find.")
	for _, name := range []string{"select", "group", "order", "limit", "offset", "count", "facet", "lookup"} {
		o.Parameters = append(o.Parameters, shared(name))
	}
	o.Parameters = append(o.Parameters, c.filters()...)
	rows := list(c.ref("row"))
	o.Responses = answers("200", "the documents, or with count their number; with facets beside them", oneOf(rows,
		object(map[string]*schema{"count": whole(0), "facets": refTo("facets")}, "count"),
		object(map[string]*schema{"rows": rows, "facets": refTo("facets")}, "rows", "facets")))
	return o
}

// filters are the parameters that pick documents.
func (c collection) filters() []*parameter {
	list := []*parameter{shared("where"), filter(catalog.ID)}
	for i := range c.Fields {
		if f := &c.Fields[i]; !f.Dropped() && filterable(f) {
			list = append(list, filter(f.Name))
		}
	}
	for _, x := range c.Paths {
		list = append(list, filter(c.PathName(x)))
	}
	return list
}

// filterable reports whether a parameter of the field's name filters by it.
func filterable(f *catalog.Field) bool {
	return !nearable(f) && clauses[f.Name] == "" && (!f.Type.IsList() || !f.Type.Elem().IsList())
}

func filter(name string) *parameter {
	return &parameter{Name: name, In: "query", Schema: refTo("filter")}
}

func (c collection) insert() *operation {
	o := c.operation("insert", "Inserts a document, or all of a list of them.")
	o.Parameters = []*parameter{shared("idempotencyKey")}
	o.Body = needs(oneOf(c.ref("document"), list(c.ref("document"))))
	o.Responses = answers("201", "how many were inserted", counted("inserted"))
	return o
}

func (c collection) update(verb, summary string) *operation {
	o := c.operation(verb, summary)
	o.Parameters = append(c.filters(), shared("idempotencyKey"))
	o.Body = needs(c.ref("change"))
	o.Responses = answers("200", "how many were changed", counted("updated"))
	return o
}

func (c collection) remove(verb, summary string) *operation {
	o := c.operation(verb, summary)
	o.Parameters = append(c.filters(), shared("idempotencyKey"))
	o.Responses = answers("200", "how many were deleted", counted("deleted"))
	return o
}

// all returns an operation without its filters.
func (c collection) all(o *operation) *operation {
	o.Parameters = []*parameter{shared("idempotencyKey")}
	return o
}

func (c collection) changes() *operation {
	o := c.operation("follow", "Follows the documents that the filters find, as server-sent events.")
	for _, name := range []string{"select", "order", "limit", "offset"} {
		o.Parameters = append(o.Parameters, shared(name))
	}
	o.Parameters = append(append(o.Parameters, shared("since")), c.filters()...)
	o.Responses = answers("200", "events until the connection ends", text())
	o.Responses["200"].Content = map[string]*media{"text/event-stream": {text()}}
	return o
}
