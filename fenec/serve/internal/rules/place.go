package rules

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// maxList is the number of values that a claim may list.
const maxList = 1000

// places are the parameters of a policy: first those that stand for one claim each,
// then runs of them for claims that list values. The engine takes no list after
// "in", so that a policy is for lists of certain lengths.
type places struct {
	single []string
	lists  []run
}

// run is the parameters of a claim that lists values.
type run struct {
	claim        string
	first, count int
}

// places returns the parameters where the lists of the file, in their order, have
// the given lengths; nil is one each.
func (f *File) places(lengths []int) *places {
	p := &places{single: f.single}
	next := len(f.single) + 1
	for i, claim := range f.lists {
		n := 1
		if lengths != nil {
			n = lengths[i]
		}
		p.lists = append(p.lists, run{claim, next, n})
		next += n
	}
	return p
}

// appendOne appends the parameter of a claim.
func (p *places) appendOne(dst []byte, claim string) []byte {
	return appendParam(dst, slices.Index(p.single, claim)+1)
}

// appendList appends the parameters of a claim's values, with commas between.
func (p *places) appendList(dst []byte, claim string) []byte {
	at := slices.IndexFunc(p.lists, func(r run) bool { return r.claim == claim })
	for i := range p.lists[at].count {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendParam(dst, p.lists[at].first+i)
	}
	return dst
}

func appendParam(dst []byte, n int) []byte { return strconv.AppendInt(append(dst, '$'), int64(n), 10) }

// bounded returns why a token is refused for the claims that the file reads, or nil.
func (f *File) bounded(c Claims) error {
	for _, name := range f.claims {
		if v, ok := c.Get(name); ok && v.Kind() == value.KindList && v.Len() > maxList {
			return fmt.Errorf("the claim %q lists %d values, and %d are the most", name, v.Len(), maxList)
		}
	}
	return nil
}

// listsOf returns the values of the file's lists, in their order: none where no rule
// reads them.
func (f *File) listsOf(rules []*rule, c Claims) [][]value.Value {
	out := make([][]value.Value, len(f.lists))
	for i, claim := range f.lists {
		if slices.ContainsFunc(rules, func(r *rule) bool { return r.filter.lists(claim) }) {
			v, _ := c.Get(claim)
			out[i] = valuesOf(v)
		}
	}
	return out
}

// lists reports whether a claim stands for its values in f.
func (f *filter) lists(claim string) bool {
	return f != nil && slices.ContainsFunc(f.gaps, func(g gap) bool { return g.list && g.claim == claim })
}

// valuesOf returns the values that a claim lists, or it alone. A null would find the
// rows without a value.
func valuesOf(v value.Value) []value.Value {
	if v.Kind() != value.KindList {
		return []value.Value{v}
	}
	return slices.DeleteFunc(slices.Clone(v.AsList()), value.Value.IsNull)
}

// padded returns the length of list that policies are made for where n values are
// to be found: the next power of two, so that they are few.
func padded(n int) int {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len(uint(n-1))
}

// values returns a token's values for a policy with lists of the given lengths,
// which are padded with their last value.
func (f *File) values(c Claims, lists [][]value.Value, lengths []int) []any {
	var out []any
	for _, claim := range f.single {
		v, _ := c.Get(claim) // null where there is none: no rule that applies reads it
		out = append(out, v)
	}
	for i, list := range lists {
		for j := range lengths[i] {
			out = append(out, list[min(j, len(list)-1)])
		}
	}
	return out
}
