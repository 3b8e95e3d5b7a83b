package value

import (
	"slices"
	"strings"
	"sync"
)

// The most room that is handed on from one text to the next.
const (
	keptElems   = 1024
	keptMembers = 128
)

var parserPool = sync.Pool{New: func() any { return new(parser) }}

// release lets the parser read another text. What it has not taken off its stacks
// is left of a text that was refused.
func (p *parser) release() {
	s := p.stacks
	clear(s.elems)
	clear(s.members)
	s.elems, s.members = s.elems[:0], s.members[:0]
	if cap(s.elems) > keptElems {
		s.elems = nil
	}
	if cap(s.members) > keptMembers {
		s.members = nil
	}
	*p = parser{stacks: s}
	parserPool.Put(p)
}

// manyElements is from how many elements on the parser takes care not to have
// room for more than there are, and not to copy them.
const manyElements = 1024

// room returns for how many more elements a full stack of n is to have room. They
// are as many again, so that all copying comes to little, but of many elements
// not more than can follow: each has a comma before it, or a bracket around it.
func (p *parser) room(n int) int {
	if n < manyElements {
		return max(n, 16)
	}
	rest := p.data[p.pos:]
	more := min(n, strings.Count(rest, ",")+maxParseDepth)
	return 1 + min(max(more, plainElements(rest)), p.left+maxParseDepth)
}

// plainElements returns how many more elements the list has whose rest this is, if
// they are numbers and words; else 0.
func plainElements(rest string) int {
	end := strings.IndexByte(rest, ']')
	if end < 0 || strings.ContainsAny(rest[:end], `[{"`) {
		return 0
	}
	return min(strings.Count(rest[:end], ","), end/2)
}

// grown returns a stack with room for exactly n more elements.
func grown[T any](stack []T, n int) []T {
	return append(make([]T, 0, len(stack)+n), stack...)
}

// taken takes the elements from start on off a stack, where nothing of them remains,
// and returns them and what is left. Many that are all of it take its memory with
// them instead of a copy.
func taken[T any](stack []T, start int) (own, rest []T) {
	own = stack[start:]
	n := len(own)
	if start == 0 && n >= manyElements && cap(own)-n <= n/8 {
		return own[:n:n], nil
	}
	out := slices.Clone(own)
	clear(own)
	return out, stack[:start]
}
