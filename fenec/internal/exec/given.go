package exec

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Given is rows that another process has found and told of in JSON.
type Given struct {
	Columns  []string        // the last one is that of the children, if there are any
	Rows     [][]value.Value // a value for each column but that of the children
	Children *Given          // of all rows, or nil
	UpTo     []int           // where the children of a row end in Children
	Facets   []FacetCounts   // or nil
}

// Result returns the rows as a query answers them that ran here. The type of a
// column is not known: it is json, but for the scores.
func (g *Given) Result() *Result {
	names := g.Columns
	if g.Children != nil {
		names = names[:len(names)-1]
	}
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = newColumn(name, i, anyType)
	}
	types := slices.Repeat([]value.Type{anyType}, len(names))
	scored := g.scored(names)
	if scored {
		last := len(names) - 1
		columns[last] = newColumn(scoreName, scoreColumn, value.TypeFloat)
		types = types[:last]
	}
	r := &Result{heading: newHeading(columns...), rows: make([]resultRow, 0, len(g.Rows))}
	r.beside = &beside{facets: g.Facets}
	for _, vals := range g.Rows {
		if scored {
			score, _ := vals[len(types)].Number()
			r.beside.scores = append(r.beside.scores, float32(score))
		}
		r.rows = append(r.rows, resultRow{data: row.Encode(nil, types, vals[:len(types)])})
	}
	if g.Children != nil {
		name := g.Columns[len(names)]
		member := append(value.AppendJSONString(nil, name), ':')
		r.hang(&nested{name: name, member: member, of: g.Children.Result(), upTo: g.UpTo})
	}
	return r
}

// scored reports whether the last of the columns holds scores.
func (g *Given) scored(names []string) bool {
	last := len(names) - 1
	if last < 0 || names[last] != scoreName {
		return false
	}
	return !slices.ContainsFunc(g.Rows, func(vals []value.Value) bool {
		_, number := vals[last].Number()
		return !number
	})
}

// HoldsJSON reports whether a column, by its number, is of json or was computed.
func (r *Result) HoldsJSON(column int) bool {
	return column < len(r.columns) && r.columns[column].typ.Is(value.BaseJSON)
}
