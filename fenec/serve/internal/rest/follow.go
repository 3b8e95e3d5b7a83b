package rest

import (
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// Follow returns the shape that a subscription to a collection follows, and the
// sequence that the subscriber has reached: fenec.NoCursor if the query string
// names none.
func Follow(schemas Schemas, collection string, query []target.Pair) (shape fenec.Shape, since uint64, err error) {
	c, err := schemas.find(collection)
	if err != nil {
		return shape, 0, err
	}
	var (
		b builder
		p picked
	)
	for i := range query {
		if err := p.take(&b, c, followClauses, query[i].Key, &query[i]); err != nil {
			return shape, 0, err
		}
	}
	shape.Collection = c.name
	if shape.Where, err = b.text(p.where()); err != nil {
		return shape, 0, err
	}
	shape.Args = b.args
	if shape.Select, err = p.shown(c); err != nil {
		return shape, 0, err
	}
	since, err = p.since()
	return shape, since, err
}

// text prints a condition. Of none it is empty.
func (b *builder) text(where ql.Expr) (string, error) {
	if where == nil {
		return "", nil
	}
	text := ql.PrintExpr(where)
	if b.free {
		if _, err := ql.ParseExpr(text); err != nil {
			return "", unplaced(err)
		}
	}
	return text, nil
}

// endless are the clauses that have no meaning for a stream of every row that
// matches.
var endless = [...]struct {
	clause clause
	key    string
}{
	{clauseOrder, "order"}, {clauseLimit, "limit"}, {clauseOffset, "offset"}, {clauseCount, "count"}, {clauseLookup, "lookup"},
}

// shown returns the columns that a subscription selects, none for all.
func (p *picked) shown(c *Collection) ([]string, error) {
	for _, e := range endless {
		if p.has(e.clause) {
			return nil, fault.New(fault.Query, "%s does not stand in a subscription", e.key)
		}
	}
	if !p.has(clauseSelect) {
		return nil, nil
	}
	paths, err := c.paths("select", *p.clauses[clauseSelect])
	if err != nil {
		return nil, err
	}
	names := make([]string, len(paths))
	for i := range paths {
		names[i] = paths[i].String()
	}
	return names, nil
}

func (p *picked) since() (uint64, error) {
	if !p.has(clauseSince) {
		return fenec.NoCursor, nil
	}
	n, err := strconv.ParseUint(*p.clauses[clauseSince], 10, 64)
	if err != nil {
		return 0, fault.New(fault.Query, "since: want a whole number, got %.80q", *p.clauses[clauseSince])
	}
	return n, nil
}
