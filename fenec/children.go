package fenec

import "iter"

// Children returns the rows that the statement's lookup has found for r, in
// order; none if there is no lookup. They may have children of their own.
func (r Row) Children() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		res := r.res.nested()
		if res == nil || r.at < 0 {
			return
		}
		first, end := r.res.rows.Children(r.at)
		for ; first < end; first++ {
			if !yield(Row{res, first}) {
				return
			}
		}
	}
}

// nested returns the result that holds the children of all rows, or nil.
func (r *Result) nested() *Result {
	if r.children == nil && r.rows != nil {
		if _, of := r.rows.Nested(); of != nil {
			r.children = &Result{kind: KindRows, rows: of, columns: of.Columns(), seq: r.seq}
		}
	}
	return r.children
}
