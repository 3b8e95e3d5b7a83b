package client

import "github.com/fenec-go/fenecdb/fenec/ql"

// traits are what a client wants to know of a statement.
type traits struct {
	known   bool // it could be parsed; the server says what is wrong otherwise
	reads   bool // get, explain, collections, describe
	get     bool
	faceted bool
	schemas bool // collections, describe
	keyless bool // it takes no Idempotency-Key, or is better off without one
	lookup  *ql.Lookup
}

func traitsOf(text string) traits {
	tree, err := ql.Parse(text)
	if err != nil {
		return traits{}
	}
	t := traits{known: true}
	switch tree := tree.(type) {
	case *ql.Get:
		t.reads, t.get, t.faceted, t.lookup = true, true, len(tree.Facets) > 0, tree.Lookup
	case *ql.Explain:
		t.reads = true
	case *ql.Collections, *ql.Describe:
		t.reads, t.schemas = true, true
	case *ql.Compact, *ql.CreateIndex:
		// A create index under a key would be part of a block, and hold up writers.
		t.keyless = true
	}
	return t
}
