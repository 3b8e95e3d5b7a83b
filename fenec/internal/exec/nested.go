package exec

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// nested is the children of all rows of a result, those of one row after those
// of the one before.
type nested struct {
	name   string
	member []byte // the name as a JSON key, with the colon
	of     *Result
	upTo   []int // where the children of a row end in of
}

// hang gives the rows of r their children, as a last column.
func (r *Result) hang(n *nested) {
	r.besides().nested = n
	r.heading = &heading{r.columns, append(slices.Clip(r.names), n.name)}
}

// Nested returns which column holds children, and the result they are all in;
// nil if there is none.
func (r *Result) Nested() (column int, children *Result) {
	x := r.nested()
	if x == nil {
		return 0, nil
	}
	return len(r.columns), x.of
}

// Children returns which rows of the nested result are the children of row i:
// those from first on, before end.
func (r *Result) Children(i int) (first, end int) {
	upTo := r.beside.nested.upTo
	if i > 0 {
		first = upTo[i-1]
	}
	return first, upTo[i]
}

// childList returns the children of row i as a list of objects.
func (r *Result) childList(i int) (value.Value, error) {
	of := r.nested().of
	first, end := r.Children(i)
	list := make([]value.Value, 0, end-first)
	for ; first < end; first++ {
		members := make([]value.Member, len(of.names))
		for at, name := range of.names {
			v, err := of.Value(first, at)
			if err != nil {
				return value.Null, err
			}
			members[at] = value.Member{Key: name, Value: v}
		}
		child, err := value.Object(members)
		if err != nil {
			return value.Null, err
		}
		list = append(list, child)
	}
	return value.List(list), nil
}
