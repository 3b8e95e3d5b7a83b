package rest

import (
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// child is one level of a lookup.
type child struct {
	picked
	col *Collection
}

// chain is the levels of a lookup from the top. Every key "name.…" with the name
// of one is about that one.
type chain []*child

// maxChildren is the most levels of a lookup.
const maxChildren = 8

// newChain returns the levels that the first lookup of a query string names, or
// none if there is no lookup.
func newChain(schemas Schemas, main *Collection, query []target.Pair) (chain, error) {
	at := slices.IndexFunc(query, func(p target.Pair) bool { return p.Key == "lookup" })
	if at < 0 {
		return nil, nil
	}
	names, err := items("lookup", query[at].Value)
	switch {
	case err != nil:
		return nil, err
	case len(names) > maxChildren:
		return nil, fault.New(fault.Query, "lookup: more than %d levels", maxChildren)
	}
	var c chain
	for _, name := range names {
		if name == main.name || c.find(name) != nil {
			return nil, fault.New(fault.Query, "lookup: collection %q is looked up below itself", name)
		}
		col, err := schemas.find(name)
		if err != nil {
			return nil, err
		}
		c = append(c, &child{col: col})
	}
	return c, nil
}

// find returns the level of that name, or nil.
func (c chain) find(name string) *child {
	for _, x := range c {
		if x.col.name == name {
			return x
		}
	}
	return nil
}

// of returns the level that a key of the query string is about, and what remains
// of the key, or nil.
func (c chain) of(key string) (*child, string) {
	if len(c) == 0 {
		return nil, key
	}
	name, rest, ok := strings.Cut(key, ".")
	if !ok {
		return nil, key
	}
	return c.find(name), rest
}

// lookup returns the chain as a clause of a get of main.
func (c chain) lookup(b *builder, main *Collection) (*ql.Lookup, error) {
	var top *ql.Lookup
	parent := main
	for next := &top; len(c) > 0; c = c[1:] {
		l, err := c[0].lookup(b, parent)
		if err != nil {
			return nil, err
		}
		*next, next = l, &l.Lookup
		parent = c[0].col
	}
	return top, nil
}

// lookup returns one level, below parent.
func (x *child) lookup(b *builder, parent *Collection) (l *ql.Lookup, err error) {
	l = &ql.Lookup{Collection: ql.Name{Text: x.col.name}, Where: x.where(), Required: x.on(clauseRequired)}
	if err := x.bind(l, parent); err != nil {
		return nil, err
	}
	if l.Limit, l.Offset, err = x.page(x.key("")); err != nil {
		return nil, err
	}
	if text := x.clauses[clauseSelect]; text != nil {
		if l.Columns, err = x.col.paths(x.key("select"), *text); err != nil {
			return nil, err
		}
	}
	if text := x.clauses[clauseOrder]; text != nil {
		s := sorter{b: b, c: x.col, key: x.key("order")}
		l.Order, err = s.keys(*text)
	}
	return l, err
}

// bind names the fields that connect the level with its parent.
func (x *child) bind(l *ql.Lookup, parent *Collection) error {
	if !x.has(clauseOn) {
		return fault.New(fault.Query, "lookup: %s is missing, the field that holds the parent's key", x.key("on"))
	}
	on, err := x.col.field(*x.clauses[clauseOn])
	if err != nil {
		return err
	}
	l.On.Text = on.name
	if !x.has(clauseParent) {
		return nil
	}
	of, err := parent.field(*x.clauses[clauseParent])
	if err != nil {
		return err
	}
	l.Parent.Text = of.name
	return nil
}

// key returns a key of the level as the query string has it.
func (x *child) key(of string) string { return x.col.name + "." + of }
