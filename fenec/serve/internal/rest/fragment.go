package rest

import (
	"reflect"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// The parts of a request that are written in the language. Each is parsed by
// itself and must be exactly what its place wants.

// condition parses the condition that key brings.
func (b *builder) condition(key, text string) (ql.Expr, error) {
	e, err := ql.ParseExpr(text)
	if err != nil {
		return nil, fragmentError(key, err)
	}
	b.free = true
	return e, withoutParams(key, e)
}

// selectList parses a list of columns in which expressions stand.
func (b *builder) selectList(text string) (star bool, columns []ql.Column, err error) {
	g, err := b.clause("select", text)
	if err != nil {
		return false, nil, err
	}
	return g.Star, g.Columns, only("select", g, &ql.Get{Star: g.Star, Columns: g.Columns})
}

// group parses the keys of groups.
func (b *builder) group(text string) ([]ql.Expr, error) {
	g, err := b.clause("group", text)
	if err != nil {
		return nil, err
	}
	return g.Group, only("group", g, &ql.Get{Group: g.Group})
}

// facets parses a list of facets.
func (b *builder) facets(text string) ([]ql.Facet, error) {
	g, err := b.clause("facet", text)
	if err != nil {
		return nil, err
	}
	return g.Facets, only("facet", g, &ql.Get{Facets: g.Facets})
}

// aggregate parses a call to sort groups by.
func (b *builder) aggregate(key, text string) (*ql.Call, error) {
	e, err := ql.ParseExpr(text)
	if err != nil {
		return nil, fragmentError(key, err)
	}
	c, ok := e.(*ql.Call)
	if !ok || !ql.IsAggregate(c.Name) {
		return nil, fault.New(fault.Query, "%s: %.80q is neither a field nor an aggregate", key, text)
	}
	b.free = true
	return c, withoutParams(key, c)
}

// clause parses text as what follows the word of a clause in a get.
func (b *builder) clause(word, text string) (*ql.Get, error) {
	st, err := ql.Parse("get c " + word + " " + text)
	if err != nil {
		return nil, fragmentError(word, err)
	}
	b.free = true
	return st.(*ql.Get), withoutParams(word, st)
}

// only returns why g, which was parsed from what key brings, holds more than
// want does.
func only(key string, g, want *ql.Get) error {
	want.From = g.From
	if !reflect.DeepEqual(g, want) {
		return fault.New(fault.Query, "%s: another clause stands in it", key)
	}
	return nil
}

func withoutParams(key string, n ql.Node) error {
	if ql.Params(n) > 0 {
		return fault.New(fault.Query, "%s: there are no values for parameters", key)
	}
	return nil
}

func fragmentError(key string, err error) error {
	return fault.New(fault.Query, "%s: %s", key, message(unplaced(err)))
}

// message returns an error's text without the kind it begins with.
func message(err error) string {
	if f, ok := err.(*fault.Error); ok {
		return f.Msg
	}
	return err.Error()
}
