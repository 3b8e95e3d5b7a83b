package main

import (
	"context"
	"testing"
)

// A wrong answer of a query over items is noticed.
func TestItemReader(t *testing.T) {
	d := newItems(100)
	row := func(id int64, change func(dest []any)) func(dest []any) {
		return func(dest []any) {
			f := d.facts[id-1]
			for c, v := range []int64{id, int64(f.customer), int64(f.price), int64(f.qty)} {
				*dest[c].(*int64) = v
			}
			*dest[4].(*string) = d.kinds[f.kind]
			*dest[5].(*string) = string(appendMeta(nil, f.tag))
			*dest[6].(*string) = d.pool.At(id - 1)
			if change != nil {
				change(dest)
			}
		}
	}
	number := func(c int) func(dest []any) { return func(dest []any) { *dest[c].(*int64)++ } }
	word := func(c int) func(dest []any) { return func(dest []any) { *dest[c].(*string) += "?" } }
	absent := func(dest []any) { *dest[0].(*int64) = 101 }
	for _, c := range []struct {
		name    string
		rows    fakeRows
		ordered bool
		right   bool
	}{
		{"right", fakeRows{row(3, nil), row(7, nil)}, true, true},
		{"another order", fakeRows{row(7, nil), row(3, nil)}, false, true},
		{"another order than asked for", fakeRows{row(7, nil), row(3, nil)}, true, false},
		{"a row missing", fakeRows{row(3, nil)}, false, false},
		{"a row too many", fakeRows{row(3, nil), row(7, nil), row(8, nil)}, true, false},
		{"a row twice", fakeRows{row(3, nil), row(3, nil)}, false, false},
		{"no row", nil, false, false},
		{"an id that is not there", fakeRows{row(3, absent), row(7, nil)}, false, false},
		{"another customer", fakeRows{row(3, number(1)), row(7, nil)}, false, false},
		{"another price", fakeRows{row(3, number(2)), row(7, nil)}, false, false},
		{"another quantity", fakeRows{row(3, number(3)), row(7, nil)}, false, false},
		{"another kind", fakeRows{row(3, nil), row(7, word(4))}, false, false},
		{"another meta", fakeRows{row(3, nil), row(7, word(5))}, false, false},
		{"another body", fakeRows{row(3, nil), row(7, word(6))}, false, false},
	} {
		err := newItemReader(d, engineStub{}).ask(context.Background(), c.rows, nil, answer{[]int32{3, 7}, c.ordered})
		if (err == nil) != c.right {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
