package rest

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// insert translates POST of one document or a list of them.
func insert(c *Collection, body value.Value, room []any) (Statement, error) {
	if err := c.checkDocuments(body); err != nil {
		return Statement{}, err
	}
	return Statement{Text: c.insert, Args: append(room, body), Answer: Inserted}, nil
}

// checkDocuments returns why a body is neither a document of c nor a list of them.
func (c *Collection) checkDocuments(body value.Value) error {
	if body.Kind() != value.KindList {
		return c.checkDocument(body)
	}
	if body.Len() == 0 {
		return fault.New(fault.Query, "the list of documents is empty")
	}
	for _, d := range body.AsList() {
		if err := c.checkDocument(d); err != nil {
			return err
		}
	}
	return nil
}

// checkDocument returns why d is no document of c. What it says of unknown
// fields is no error of what there is not: it is the body that is wrong.
func (c *Collection) checkDocument(d value.Value) error {
	if d.Kind() != value.KindObject {
		return fault.New(fault.Type, "want a document or a list of documents, got %s", d.Kind())
	}
	for _, m := range d.AsObject() {
		if !c.takes(m.Key) {
			return c.noMember(m.Key)
		}
	}
	return nil
}

// takes reports whether a document's member may be called so: as a field, or as
// a path into a json field.
func (c *Collection) takes(key string) bool {
	if c.fields[key] != nil {
		return true
	}
	name, _, dotted := strings.Cut(key, ".")
	f := c.fields[name]
	return dotted && f != nil && f.typ.Is(value.BaseJSON)
}

func (c *Collection) noMember(key string) error {
	return fault.New(fault.Query, "no field %.80q in collection %q", key, c.name)
}

// update translates PATCH and PUT of the fields to set.
func update(c *Collection, query []target.Pair, body value.Value, all bool) (Statement, error) {
	var b builder
	where, err := b.picks(c, query, all)
	if err != nil {
		return Statement{}, err
	}
	if list := body; list.Kind() == value.KindList && list.Len() == 1 {
		body = list.AsList()[0]
	}
	if body.Kind() != value.KindObject || body.Len() == 0 {
		return Statement{}, fault.New(fault.Query, "want one object of the fields to set")
	}
	set := ql.Set{Name: ql.Name{Text: c.name}, Where: where}
	for _, m := range body.AsObject() {
		path, err := c.settable(m.Key)
		if err != nil {
			return Statement{}, err
		}
		set.Pairs = append(set.Pairs, ql.Pair{Path: *path, Value: b.param(m.Value)})
	}
	return b.statement(&set, Updated)
}

// settable returns the place that a member of an update sets.
func (c *Collection) settable(key string) (*ql.Path, error) {
	switch {
	case key == catalog.ID:
		return nil, fault.New(fault.Query, "a document's id cannot be set")
	case !c.takes(key):
		return nil, c.noMember(key)
	}
	x, err := c.operand(key)
	return x.path, err
}

// remove translates DELETE.
func remove(c *Collection, query []target.Pair, all bool) (Statement, error) {
	var b builder
	where, err := b.picks(c, query, all)
	if err != nil {
		return Statement{}, err
	}
	return b.statement(&ql.Del{From: ql.Name{Text: c.name}, Where: where}, Deleted)
}

// picks returns the condition on what a write touches. It needs one, unless the
// write is of all documents.
func (b *builder) picks(c *Collection, query []target.Pair, all bool) (ql.Expr, error) {
	var p picked
	for i := range query {
		pair := &query[i]
		if which := readClauses[pair.Key]; which != noClause && which != clauseWhere {
			return nil, fault.New(fault.Query, "%s does not stand in a write", pair.Key)
		}
		if err := p.take(b, c, readClauses, pair.Key, pair); err != nil {
			return nil, err
		}
	}
	switch {
	case all && len(p.conditions) > 0:
		return nil, fault.New(fault.Query, "/%s/all takes no filter", c.name)
	case !all && len(p.conditions) == 0:
		return nil, fault.New(fault.Query, "a filter is needed; what is for every document goes to /%s/all", c.name)
	}
	return p.where(), nil
}
