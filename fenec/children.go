package fenec

import (
	"iter"
	"reflect"
)

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
			r.children = &Result{kind: KindRows, rows: of, seq: r.seq}
		}
	}
	return r.children
}

// isNested reports whether a column is that of the children.
func (r *Result) isNested(column int) bool {
	if r.rows == nil {
		return false
	}
	at, of := r.rows.Nested()
	return of != nil && at == column
}

// scanChildren stores the children in a slice of structs that dest points to. It
// reports false if it does not.
func (r Row) scanChildren(dest any) (bool, error) {
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() || r.at < 0 {
		return false, nil
	}
	t := p.Type().Elem()
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct {
		return false, nil
	}
	first, end := r.res.rows.Children(r.at)
	out := reflect.MakeSlice(t, end-first, end-first)
	for i := range out.Len() {
		if err := (Row{r.res.nested(), first + i}).ScanStruct(out.Index(i).Addr().Interface()); err != nil {
			return false, err
		}
	}
	p.Elem().Set(out)
	return true, nil
}
