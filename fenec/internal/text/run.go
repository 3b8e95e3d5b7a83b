package text

import (
	"crypto/sha256"
	"unicode/utf8"
)

// MaxTerm is the most bytes that a term has. A longer one, which no language
// writes, stands as its first 168 bytes, cut at any byte, followed by the
// SHA-256 of the whole with 1 for its bytes that are 0: keys of an index stay
// short, yet two long words stay two terms, and 0x00 still ends a term. It is
// cut here because an index and its queries must do it alike.
const MaxTerm = 200

// keptBytes is how much of a term that is too long stands in front of its hash.
const keptBytes = MaxTerm - sha256.Size

// A run is a stretch of a word in one script, folded. It is read from a text
// again and again, in the same memory.
type run struct {
	script class
	from   int // where the run begins in the text, in bytes
	to     int // where it ends

	// text is ^ followed by the folded characters, so that a prefix term is a
	// part of it.
	text []byte

	// chars are the characters of a script that is cut; empty for the others.
	chars []char

	short [MaxTerm]byte // holds a term that had to be cut
}

// A char is a character of a run: where it ends in the run's text, and where it
// is in the text it was read from.
type char struct {
	end    int
	source span
}

func (r *run) empty() bool { return len(r.text) <= 1 }

// start makes r a run of what has been read already: folded characters of ASCII,
// or none, at from.
func (r *run) start(ascii []byte, from int) {
	r.script, r.from, r.to = 0, from, from+len(ascii)
	r.text = append(append(r.text[:0], '^'), ascii...)
	r.chars = r.chars[:0]
}

// read reads on at pos, up to the end of the first run there, and returns where
// to go on from. The run stays empty if there is none.
func (r *run) read(text string, pos int, classes *classTable) int {
	for pos < len(text) {
		c, size := utf8.DecodeRuneInString(text[pos:])
		class := classes[c]
		switch {
		case class&inWord == 0 && r.empty():
		case class&inWord == 0:
			return pos
		case !r.extend(c, class, pos, size):
			return pos
		}
		pos += size
	}
	return pos
}

// extend adds the character at pos to the run, unless its script is another.
func (r *run) extend(c rune, class class, pos, size int) bool {
	if class&folds != 0 {
		folded, ok := fold(c)
		if !ok {
			return true
		}
		c = folded
	}
	switch {
	case r.empty():
		r.script, r.from = class&scripts, pos
	case r.script != class&scripts:
		return false
	}
	r.text = utf8.AppendRune(r.text, c)
	r.to = pos + size
	if r.script != 0 {
		r.chars = append(r.chars, char{end: len(r.text), source: span{pos, r.to}})
	}
	return true
}

// terms calls yield with each term of the run and the characters [first, end)
// that it stands for, by ascending first. A run of a script that is not cut
// counts as one character here, and its prefixes stand for all of it. The term
// is valid until yield returns.
func (r *run) terms(a Analyzer, yield func(term []byte, first, end int)) {
	switch r.script {
	case pairs:
		r.grams(2, a.Chars, yield)
	case triples:
		r.grams(3, false, yield)
	default:
		yield(r.cut(r.text[1:]), 0, 1)
		r.prefixes(a, yield)
	}
}

// grams yields each n characters that follow one another, or all if they are
// fewer, and with singles also each one.
func (r *run) grams(n int, singles bool, yield func(term []byte, first, end int)) {
	if len(r.chars) <= n {
		yield(r.text[1:], 0, len(r.chars))
	}
	begin := 1
	for i, c := range r.chars {
		if len(r.chars) > n && i+n <= len(r.chars) {
			yield(r.text[begin:r.chars[i+n-1].end], i, i+n)
		}
		if singles && len(r.chars) > 1 {
			yield(r.text[begin:c.end], i, i+1)
		}
		begin = c.end
	}
}

// prefixes yields the prefix terms of a run of a script that is not cut.
func (r *run) prefixes(a Analyzer, yield func(term []byte, first, end int)) {
	end := 1
	for k := 1; k <= a.Prefix; k++ {
		_, size := utf8.DecodeRune(r.text[end:])
		end += size
		if end >= len(r.text) {
			return
		}
		if k >= a.PrefixMin {
			yield(r.cut(r.text[:end]), 0, 1)
		}
	}
}

// cut returns a term as it is stored, see MaxTerm.
func (r *run) cut(term []byte) []byte {
	if len(term) <= MaxTerm {
		return term
	}
	hash := sha256.Sum256(term)
	for i, c := range hash {
		hash[i] = max(c, 1)
	}
	copy(r.short[:keptBytes], term)
	copy(r.short[keptBytes:], hash[:])
	return r.short[:]
}
