package text

import (
	"bytes"
	"math/bits"
	"slices"
)

// A Bag is the terms of one text and how often each is in it. The zero Bag is
// empty. It keeps its memory from text to text: filling it allocates only while
// it meets larger texts than before. It is not safe for concurrent use.
type Bag struct {
	counts counts
	run    run
	word   [1 + MaxTerm]byte // ^ and a folded word of ASCII

	// order is the terms in order: the index of an entry in the low entryBits,
	// above it the upper bits of the entry's head.
	order     []uint64
	room      []uint64 // for sorting
	entryBits int
}

// Fill makes b the bag of text.
func (b *Bag) Fill(a Analyzer, text string) {
	b.counts.reset(len(text))
	b.gather(a, text)
	b.sort()
}

// FillWithin is Fill for a text whose distinct terms take at most so many bytes,
// each of them counted as so many more than it has. Otherwise it ends as soon as
// that is known, b is of no use, and ok is false.
func (b *Bag) FillWithin(a Analyzer, text string, most, each int64) (ok bool) {
	b.counts.reset(len(text))
	b.counts.room, b.counts.each = most, each
	b.gather(a, text)
	if b.counts.room < 0 {
		return false
	}
	b.sort()
	return true
}

// Size returns what FillWithin compares with the most.
func (b *Bag) Size(each int64) int64 {
	return int64(len(b.counts.arena)) + each*int64(len(b.counts.entries))
}

// Len returns the number of distinct terms.
func (b *Bag) Len() int { return len(b.order) }

// Length returns the number of all terms, those of prefixes and of single
// characters included: the length of the text as ranking counts it.
func (b *Bag) Length() uint32 { return b.counts.total }

// At returns the ith term, in the order of their bytes, and how often it is in
// the text. The term is the bag's and valid until the next Fill.
func (b *Bag) At(i int) (term []byte, freq uint32) {
	e := b.entry(b.order[i])
	return b.counts.term(e), e.freq
}

// gather counts the terms of text, while there is room for them. Words of ASCII,
// which most are, go a way of their own.
func (b *Bag) gather(a Analyzer, text string) {
	classes := classes()
	for pos := 0; pos < len(text) && b.counts.room >= 0; {
		if foldASCII[text[pos]] == 0 {
			pos++
			continue
		}
		n, ok := b.readASCII(text[pos:])
		if ok {
			b.addASCII(a, n)
			pos += n
			continue
		}
		b.run.start(b.word[1:1+n], pos)
		pos = b.run.read(text, pos+n, classes)
		if !b.run.empty() {
			b.run.terms(a, func(term []byte, _, _ int) { b.counts.add(term) })
		}
	}
}

// readASCII folds the word that text begins with and returns its length. It is
// not ok when the word holds other characters or may be too long for a term.
func (b *Bag) readASCII(text string) (n int, ok bool) {
	for n < len(text) && n < MaxTerm {
		c := foldASCII[text[n]]
		if c == 0 {
			return n, true
		}
		if c == notASCII {
			return n, false
		}
		b.word[1+n] = c
		n++
	}
	return n, n == len(text)
}

// addASCII counts the word of n characters that readASCII has folded.
func (b *Bag) addASCII(a Analyzer, n int) {
	b.counts.add(b.word[1 : 1+n])
	if a.Prefix == 0 {
		return
	}
	b.word[0] = '^'
	for k := max(a.PrefixMin, 1); k <= min(a.Prefix, n-1); k++ {
		b.counts.add(b.word[:1+k])
	}
}

// sort puts the terms in order. Most are told apart by as much of their head as
// there is room for beside the number of the entry, and numbers sort fast.
func (b *Bag) sort() {
	entries := b.counts.entries
	b.order, b.entryBits = b.order[:0], bits.Len(uint(len(entries)))
	for i := range entries {
		b.order = append(b.order, entries[i].head>>b.entryBits<<b.entryBits|uint64(i))
	}
	b.room = slices.Grow(b.room[:0], len(b.order))[:len(b.order)]
	sortNumbers(b.order, b.room)
	for i := 0; i < len(b.order); {
		end := i + 1
		for end < len(b.order) && b.order[end]>>b.entryBits == b.order[i]>>b.entryBits {
			end++
		}
		if end-i > 1 {
			b.sortAlike(b.order[i:end])
		}
		i = end
	}
}

// sortAlike sorts terms that begin alike.
func (b *Bag) sortAlike(order []uint64) {
	slices.SortFunc(order, func(x, y uint64) int {
		return bytes.Compare(b.counts.term(b.entry(x)), b.counts.term(b.entry(y)))
	})
}

// entry returns the entry that a member of order is about.
func (b *Bag) entry(x uint64) *entry {
	return &b.counts.entries[x&(1<<b.entryBits-1)]
}
