package rest

import (
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// clause is a reserved key of a query string. A filter cannot be on a field that
// is called so.
type clause uint8

const (
	noClause clause = iota
	clauseSelect
	clauseOrder
	clauseLimit
	clauseOffset
	clauseCount
	clauseWhere
	clauseLookup
	clauseGroup
	clauseFacet
	clauseSince
	clauseOn
	clauseParent
	clauseRequired
	clauseKinds
)

// The reserved keys of a read and of a write, of a subscription, and of a level
// of lookup.
var (
	readClauses = map[string]clause{
		"select": clauseSelect, "order": clauseOrder, "limit": clauseLimit, "offset": clauseOffset,
		"count": clauseCount, "where": clauseWhere, "lookup": clauseLookup, "group": clauseGroup, "facet": clauseFacet,
	}
	followClauses = map[string]clause{
		"select": clauseSelect, "order": clauseOrder, "limit": clauseLimit, "offset": clauseOffset,
		"count": clauseCount, "where": clauseWhere, "lookup": clauseLookup, "since": clauseSince,
	}
	childClauses = map[string]clause{
		"select": clauseSelect, "order": clauseOrder, "limit": clauseLimit, "offset": clauseOffset,
		"where": clauseWhere, "on": clauseOn, "parent": clauseParent, "required": clauseRequired,
	}
)

// clauses are the values of reserved keys, nil for those that were not given.
// Where is none of them but a filter.
type clauses [clauseKinds]*string

func (cs *clauses) has(c clause) bool { return cs[c] != nil }

// on reports whether a key that is a switch was given and is on.
func (cs *clauses) on(c clause) bool {
	if cs[c] == nil {
		return false
	}
	switch strings.ToLower(*cs[c]) {
	case "", "true", "1", "yes", "exact":
		return true
	}
	return false
}

// page returns the numbers of limit and offset. prefix stands before the keys.
func (cs *clauses) page(prefix string) (limit, offset *int64, err error) {
	if limit, err = cs.whole(clauseLimit, prefix, "limit"); err != nil {
		return nil, nil, err
	}
	offset, err = cs.whole(clauseOffset, prefix, "offset")
	return limit, offset, err
}

func (cs *clauses) whole(c clause, prefix, key string) (*int64, error) {
	if cs[c] == nil {
		return nil, nil
	}
	n, err := strconv.ParseUint(*cs[c], 10, 63)
	if err != nil {
		return nil, fault.New(fault.Query, "%s%s: want a whole number, got %.80q", prefix, key, *cs[c])
	}
	whole := int64(n)
	return &whole, nil
}

// picked is what a query string says of one collection.
type picked struct {
	clauses
	conditions []ql.Expr
}

// take takes a pair that is about c. key is its key within what is said of c; it
// may be one of reserved, of which a later one replaces an earlier one.
func (p *picked) take(b *builder, c *Collection, reserved map[string]clause, key string, pair *target.Pair) error {
	var (
		e   ql.Expr
		err error
	)
	switch which := reserved[key]; which {
	case noClause:
		e, err = b.filter(c, key, pair.Value)
	case clauseWhere:
		e, err = b.condition(pair.Key, pair.Value)
	default:
		p.clauses[which] = &pair.Value
		return nil
	}
	p.conditions = append(p.conditions, e)
	return err
}

// where returns all conditions as one, or nil.
func (p *picked) where() ql.Expr { return join(ql.OpAnd, p.conditions) }

// items returns what stands between the commas of a list, without blanks around
// it and without what is empty. None is an error.
func items(key, list string) ([]string, error) {
	out := make([]string, 0, strings.Count(list, ",")+1)
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Query, "%s: nothing is named", key)
	}
	return out, nil
}
