package main

import (
	"context"
	"testing"
)

// A wrong total or count is noticed.
func TestTotals(t *testing.T) {
	want := newItems(500).totals()
	var rows fakeRows
	for kind, total := range want {
		rows = append(rows, func(dest []any) {
			*dest[0].(*string), *dest[1].(*int64), *dest[2].(*int64) = kind, total.count, total.sum
		})
	}
	ctx := context.Background()
	if err := askTotals(ctx, rows, want); err != nil {
		t.Error(err)
	}
	if err := askTotals(ctx, rows[1:], want); err == nil {
		t.Error("a group may be missing")
	}
	first := rows[0]
	rows[0] = func(dest []any) { first(dest); *dest[2].(*int64)++ }
	if err := askTotals(ctx, rows, want); err == nil {
		t.Error("a sum may be wrong")
	}
	if _, err := askCount(ctx, fakeRows{}, nil); err == nil {
		t.Error("a count may be missing")
	}
}
