package fenec

// Facet counts the values of a field over all rows that match.
type Facet struct {
	Name   string // the field or path
	Counts []FacetCount
}

// FacetCount is one value of a facet, in the form of Row.Value, or the bounds
// of one range, and the number of rows that have it.
type FacetCount struct {
	Value any
	Count int64
}

// Facets returns the facets of the statement, in the order it names them.
func (r *Result) Facets() []Facet {
	if r.rows == nil {
		return nil
	}
	var out []Facet
	for _, f := range r.rows.Facets() {
		facet := Facet{Name: f.Name, Counts: make([]FacetCount, len(f.Counts))}
		for i, c := range f.Counts {
			facet.Counts[i] = FacetCount{c.Value.Go(), c.Count}
		}
		out = append(out, facet)
	}
	return out
}
