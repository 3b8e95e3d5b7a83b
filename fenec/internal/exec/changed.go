package exec

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// ChangedFields returns the places of the fields whose stored values differ
// between two rows of c; nil is a row of nulls.
func ChangedFields(c *catalog.Collection, before, after []byte) ([]int, error) {
	x, err := rowOf(before)
	if err != nil {
		return nil, err
	}
	y, err := rowOf(after)
	if err != nil {
		return nil, err
	}
	var changed []int
	for i := range c.Fields {
		if c.Fields[i].Dropped() {
			continue
		}
		same, err := sameField(&x, &y, i)
		if err != nil {
			return nil, err
		}
		if !same {
			changed = append(changed, i)
		}
	}
	return changed, nil
}

// sameField reports whether field i is stored alike in two rows.
func sameField(x, y *row.Row, i int) (bool, error) {
	a, err := x.Raw(i)
	if err != nil {
		return false, err
	}
	b, err := y.Raw(i)
	return (a == nil) == (b == nil) && bytes.Equal(a, b), err
}

func rowOf(b []byte) (row.Row, error) {
	if b == nil {
		return row.Row{}, nil
	}
	return row.Parse(b)
}
