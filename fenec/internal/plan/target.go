package plan

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// target is what a term is about: the id, or a field or path that has an index.
type target struct {
	index     *catalog.Index      // nil for the id
	typ       value.Type          // of the values
	collation collation.Collation // in whose order the index holds texts
}

// isID reports whether t is the id.
func (t *target) isID() bool { return t.index == nil }

// targetOf returns what e names, if that is the id or has an index.
func targetOf(c *catalog.Collection, e ql.Expr) (t target, ok bool) {
	p, ok := e.(*ql.Path)
	if !ok {
		return target{}, false
	}
	if p.Field == catalog.ID {
		return target{typ: value.TypeInt}, len(p.Keys) == 0
	}
	at, ok := c.Position(p.Field)
	if !ok {
		return target{}, false
	}
	f := &c.Fields[at]
	t = target{f.Index, f.Type, f.Collation}
	if len(p.Keys) > 0 {
		t.index = c.PathIndex(at, p.Keys)
	}
	return t, t.index != nil
}

// targetOfIndex returns what ix is on.
func targetOfIndex(c *catalog.Collection, ix *catalog.Index) target {
	f := &c.Fields[ix.Field]
	return target{ix, f.Type, f.Collation}
}

// inOrder reports whether the entries of ix are in the order of the values
// indexed, so that ranges of values are ranges of entries.
func inOrder(ix *catalog.Index) bool {
	switch ix.Kind {
	case catalog.Hash, catalog.Unique, catalog.Sorted, catalog.TTL:
		return true
	}
	return false
}

// hasNulls reports whether ix has an entry for every row, those with nulls
// first.
func hasNulls(ix *catalog.Index) bool { return inOrder(ix) || ix.Kind == catalog.Geo }
