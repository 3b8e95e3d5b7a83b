package rest

import (
	"cmp"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// nearness is the translation of one search.
type nearness struct {
	builder
	picked
	col  *Collection
	body members
	get  ql.Get
}

// near translates POST of a search.
func near(c *Collection, query []target.Pair, body value.Value) (Statement, error) {
	if body.Kind() != value.KindObject {
		return Statement{}, fault.New(fault.Query, `want an object with a member "vector"`)
	}
	n := nearness{col: c, body: members{body}, get: ql.Get{From: ql.Name{Text: c.name}}}
	if err := cmp.Or(n.filters(query), n.vector(), n.match(), n.page(), n.columns()); err != nil {
		return Statement{}, err
	}
	return n.statement(&n.get, Rows)
}

// filters takes the filters of the query string and the condition of the body.
func (n *nearness) filters(query []target.Pair) error {
	for i := range query {
		p := &query[i]
		if which := readClauses[p.Key]; which != noClause && which != clauseWhere {
			continue
		}
		if err := n.take(&n.builder, n.col, readClauses, p.Key, p); err != nil {
			return err
		}
	}
	where, given, err := n.body.text("where")
	if err != nil {
		return err
	}
	if given {
		e, err := n.condition("where", where)
		if err != nil {
			return err
		}
		n.conditions = append(n.conditions, e)
	}
	n.get.Where = n.where()
	return nil
}

// vector makes the clause near.
func (n *nearness) vector() error {
	f, err := n.field()
	if err != nil {
		return err
	}
	v, err := n.given(f)
	if err != nil {
		return err
	}
	clause := &ql.Near{Field: ql.Name{Text: f.name}, Vector: n.param(v)}
	if clause.EF, err = n.body.positive("ef"); err != nil {
		return err
	}
	clause.Exact, err = n.body.on("exact")
	n.get.Near = clause
	return err
}

// field returns the field that is searched: the one named, or the only one of
// vectors.
func (n *nearness) field() (*field, error) {
	name, named, err := n.body.text("field")
	if err != nil {
		return nil, err
	}
	if !named {
		return n.col.only("field", "vector", func(f *field) bool { return f.typ.Is(value.BaseVector) })
	}
	f, err := n.col.field(name)
	if err == nil && !f.typ.Is(value.BaseVector) && !f.typ.Is(value.BaseSparse) && !f.typ.Is(value.BaseGeo) {
		err = fault.New(fault.Query, "field: %s is %s, want a vector, a sparse vector or a point", name, f.typ)
	}
	return f, err
}

// given returns the vector, point or sparse vector to be near to.
func (n *nearness) given(f *field) (value.Value, error) {
	v := n.body.get("vector")
	want, kind := "a list of numbers", value.KindList
	switch f.typ.Base() {
	case value.BaseSparse:
		want, kind = `a text such as "{1:0.5}/8"`, value.KindText
	case value.BaseGeo:
		want = "a list of longitude and latitude"
	}
	if v.Kind() != kind || v.Len() == 0 {
		return v, fault.New(fault.Type, "vector: want %s, got %.80s", want, v)
	}
	return v, nil
}

// match makes the clauses match and fuse, if the body asks for a text too.
func (n *nearness) match() error {
	text, given, err := n.body.text("match")
	if err != nil {
		return err
	}
	fuse := &ql.Fuse{}
	if fuse.K, err = n.body.whole("fuse_k"); err != nil {
		return err
	}
	if fuse.Candidates, err = n.body.positive("candidates"); err != nil {
		return err
	}
	f, err := n.matchField(given)
	if err != nil || !given {
		return err
	}
	n.get.Match = &ql.Match{Field: ql.Name{Text: f.name}, Query: n.param(value.Text(text))}
	n.get.Fuse = fuse
	n.free = true // the numbers have bounds
	return nil
}

// matchField returns the field whose texts are matched: the one named, or the
// only one. It is nil where none is needed.
func (n *nearness) matchField(needed bool) (*field, error) {
	name, given, err := n.body.text("match_field")
	if err != nil || !needed {
		return nil, err
	}
	matches := func(f *field) bool { return f.index == catalog.Text }
	if !given {
		return n.col.only("match_field", "@text", matches)
	}
	if f := n.col.fields[name]; f != nil && matches(f) {
		return f, nil
	}
	return nil, fault.New(fault.Query, "match_field: collection %q has no field %.80q with an index @text", n.col.name, name)
}

// only returns the only field that passes, which key would have named.
func (c *Collection) only(key, kind string, passes func(*field) bool) (*field, error) {
	var found *field
	for _, f := range c.list {
		switch {
		case !passes(f):
		case found != nil:
			return nil, fault.New(fault.Query, "%s: collection %q has several %s fields, name one", key, c.name, kind)
		default:
			found = f
		}
	}
	if found == nil {
		return nil, fault.New(fault.Query, "%s: collection %q has no %s field", key, c.name, kind)
	}
	return found, nil
}

func (n *nearness) page() (err error) {
	if n.get.Limit, err = n.body.whole("limit"); err != nil {
		return err
	}
	n.get.Offset, err = n.body.whole("offset")
	n.free = n.free || n.get.Limit != nil || n.get.Offset != nil // which have bounds
	return err
}

// columns takes the columns, a list of texts or one text.
func (n *nearness) columns() error {
	list, err := n.body.texts("select")
	if list == nil || err != nil {
		return err
	}
	n.get.Star, n.get.Columns, err = n.builder.columns(n.col, strings.Join(list, ","))
	return err
}
