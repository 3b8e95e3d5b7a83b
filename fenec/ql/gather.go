package ql

import "slices"

// A gather collects the items of a list of unknown length. Short lists it
// leaves to append. Past that it collects blocks and joins them at the end:
// append would copy a list of millions of items dozens of times over, and
// leave a quarter of its room empty.
type gather[T any] struct {
	full [][]T // blocks that are full
	last []T
}

// gatherBlock is the number of items in a block.
const gatherBlock = 4096

func (g *gather[T]) add(v T) {
	if len(g.last) == gatherBlock {
		g.full = append(g.full, g.last)
		g.last = make([]T, 0, gatherBlock)
	}
	g.last = append(g.last, v)
}

// items returns the items added, or nil when there are none.
func (g *gather[T]) items() []T {
	if g.full == nil {
		return g.last
	}
	return slices.Concat(append(g.full, g.last)...)
}
