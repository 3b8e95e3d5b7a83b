package rest

import (
	"cmp"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// reading is the translation of one read.
type reading struct {
	builder
	picked
	main     *Collection
	children chain
	get      ql.Get
}

// read translates GET of a collection.
func read(schemas Schemas, c *Collection, query []target.Pair, room []any) (Statement, error) {
	var memory [longestForm]byte
	form, filters, ok := c.appendForm(memory[:0], query)
	if !ok {
		return readAnew(schemas, c, query)
	}
	if known := c.reads.get(form); known != nil {
		// Of several errors the first is told, so that one is left to what follows.
		if args, err := c.appendValues(room, query); err == nil {
			return Statement{Text: known.Text, Args: args, Answer: known.Answer}, nil
		}
	}
	st, err := readAnew(schemas, c, query)
	if err == nil && len(st.Args) == filters {
		c.reads.add(form, &st)
	}
	return st, err
}

func readAnew(schemas Schemas, c *Collection, query []target.Pair) (Statement, error) {
	r := reading{main: c, get: ql.Get{From: ql.Name{Text: c.name}}}
	if err := r.take(schemas, query); err != nil {
		return Statement{}, err
	}
	if err := r.finish(); err != nil {
		return Statement{}, err
	}
	answer := Rows
	switch {
	case r.get.Count:
		answer = Count
	case len(r.get.Facets) > 0:
		answer = Faceted
	}
	return r.statement(&r.get, answer)
}

// take sorts the pairs into clauses, filters and what is said of children.
func (r *reading) take(schemas Schemas, query []target.Pair) (err error) {
	if r.children, err = newChain(schemas, r.main, query); err != nil {
		return err
	}
	for i := range query {
		p := &query[i]
		if child, key := r.children.of(p.Key); child != nil {
			err = child.take(&r.builder, child.col, childClauses, key, p)
		} else {
			err = r.picked.take(&r.builder, r.main, readClauses, p.Key, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish adds the clauses to the get.
func (r *reading) finish() error {
	r.get.Where = r.where()
	return cmp.Or(r.page(), r.count(), r.groups(), r.columns(), r.sorts(), r.facet(), r.lookup())
}

func (r *reading) page() (err error) {
	r.get.Limit, r.get.Offset, err = r.clauses.page("")
	return err
}

// uncountable are the clauses that do not stand beside a count.
var uncountable = [...]struct {
	clause clause
	key    string
}{
	{clauseLimit, "limit"}, {clauseOffset, "offset"}, {clauseOrder, "order"}, {clauseSelect, "select"}, {clauseGroup, "group"},
}

func (r *reading) count() error {
	if !r.on(clauseCount) {
		return nil
	}
	r.get.Count = true
	for _, u := range uncountable {
		if r.has(u.clause) {
			return fault.New(fault.Query, "count and %s do not stand in one request", u.key)
		}
	}
	if len(r.children) > 0 && !r.children[0].on(clauseRequired) {
		return fault.New(fault.Query, "count beside a lookup that is not required: say %s.required=true", r.children[0].col.name)
	}
	return nil
}

func (r *reading) groups() (err error) {
	if text := r.clauses[clauseGroup]; text != nil {
		r.get.Group, err = r.group(*text)
	}
	return err
}

func (r *reading) columns() (err error) {
	if text := r.clauses[clauseSelect]; text != nil {
		r.get.Star, r.get.Columns, err = r.builder.columns(r.main, *text)
	}
	return err
}

func (r *reading) sorts() (err error) {
	if text := r.clauses[clauseOrder]; text != nil {
		s := sorter{b: &r.builder, c: r.main, key: "order", groups: r.has(clauseGroup), columns: r.get.Columns}
		r.get.Order, err = s.keys(*text)
	}
	return err
}

func (r *reading) facet() (err error) {
	if text := r.clauses[clauseFacet]; text != nil {
		r.get.Facets, err = r.facets(*text)
	}
	return err
}

func (r *reading) lookup() (err error) {
	r.get.Lookup, err = r.children.lookup(&r.builder, r.main)
	return err
}
