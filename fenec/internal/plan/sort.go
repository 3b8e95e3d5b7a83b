package plan

import (
	"context"
	"slices"
)

// compareEvery is after how many comparisons the context is looked at.
const compareEvery = 1 << 14

// Sort sorts list as slices.SortFunc does. When ctx ends it returns soon, with its
// error and the list in any order.
func Sort[T any](ctx context.Context, list []T, compare func(a, b T) int) error {
	n, over := 0, false
	slices.SortFunc(list, func(a, b T) int {
		if n++; n == compareEvery {
			n, over = 0, ctx.Err() != nil
		}
		if over {
			return 0 // that all are equal is found out in one pass
		}
		return compare(a, b)
	})
	return ctx.Err()
}
