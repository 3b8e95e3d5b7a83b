package text_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

// The oracle does slowly, character by character, what the package does fast.

// A found is a term and the characters [first, end) of the text it stands for,
// counted as []rune counts them.
type found struct {
	term       string
	first, end int
}

// A letter is a folded character of a word and which one of the text it was.
type letter struct {
	r  rune
	at int
}

var (
	signRanges   = parseRanges("307-307 e31-e4e eb1-ecd 102b-103e 17b4-17d3")
	pairRanges   = parseRanges("1100-11ff 3005-3007 3041-30ff 3131-318e 31f0-31ff 3400-4dbf 4e00-9fff a960-a97f ac00-d7ff f900-faff ff66-ffdc 20000-3ffff")
	tripleRanges = parseRanges("e00-eff 1000-109f 1780-17ff")
)

func parseRanges(s string) (ranges [][2]rune) {
	for field := range strings.FieldsSeq(s) {
		var lo, hi rune
		if _, err := fmt.Sscanf(field, "%x-%x", &lo, &hi); err != nil {
			panic(err)
		}
		ranges = append(ranges, [2]rune{lo, hi})
	}
	return ranges
}

func within(r rune, ranges [][2]rune) bool {
	for _, lohi := range ranges {
		if lohi[0] <= r && r <= lohi[1] {
			return true
		}
	}
	return false
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r) || within(r, signRanges)
}

// foldSlowly returns 0 for a character that is dropped.
func foldSlowly(r rune) rune {
	switch {
	case strings.ContainsRune("Iİı", r):
		return 'i'
	case r == 0x307:
		return 0
	case r >= 0xff01 && r <= 0xff5e:
		return unicode.ToLower(r - 0xff01 + '!')
	}
	return unicode.ToLower(r)
}

// gramOf returns how many characters a term of r's script has, or 0.
func gramOf(r rune) int {
	switch {
	case within(r, pairRanges):
		return 2
	case within(r, tripleRanges):
		return 3
	}
	return 0
}

// runsSlowly returns the runs of s.
func runsSlowly(s string) [][]letter {
	var runs [][]letter
	var run []letter
	flush := func() {
		if len(run) > 0 {
			runs = append(runs, run)
		}
		run = nil
	}
	for at, r := range []rune(s) {
		if !isWord(r) {
			flush()
			continue
		}
		r = foldSlowly(r)
		if r == 0 {
			continue
		}
		if len(run) > 0 && gramOf(run[0].r) != gramOf(r) {
			flush()
		}
		run = append(run, letter{r, at})
	}
	flush()
	return runs
}

// foundOf returns the term prefix + letters, standing for the letters of whole.
func foundOf(prefix string, letters, whole []letter) found {
	term := prefix
	for _, l := range letters {
		term += string(l.r)
	}
	if len(term) > 200 {
		hash := sha256.Sum256([]byte(term))
		term = term[:168] + string(bytes.ReplaceAll(hash[:], []byte{0}, []byte{1}))
	}
	return found{term, whole[0].at, whole[len(whole)-1].at + 1}
}

func findSlowly(a text.Analyzer, s string) []found {
	var all []found
	for _, run := range runsSlowly(s) {
		n := gramOf(run[0].r)
		if n == 0 || len(run) < n {
			all = append(all, foundOf("", run, run))
		}
		for i := 0; n > 0 && i+n <= len(run); i++ {
			all = append(all, foundOf("", run[i:i+n], run[i:i+n]))
		}
		for i := 0; n == 2 && a.Chars && len(run) > 1 && i < len(run); i++ {
			all = append(all, foundOf("", run[i:i+1], run[i:i+1]))
		}
		for k := max(a.PrefixMin, 1); n == 0 && k <= a.Prefix && k < len(run); k++ {
			all = append(all, foundOf("^", run[:k], run))
		}
	}
	return all
}

// countSlowly returns how often each term is in s.
func countSlowly(a text.Analyzer, s string) map[string]uint32 {
	counts := map[string]uint32{}
	for _, f := range findSlowly(a, s) {
		counts[f.term]++
	}
	return counts
}

// A marking is the characters of a text, which of them are marked, and its
// words.
type marking struct {
	chars  []rune
	marked []bool
	words  []found // without terms
	hit    []bool  // by word
}

func markSlowly(a text.Analyzer, s string, query map[string]uint32) marking {
	m := marking{chars: []rune(s)}
	m.marked = make([]bool, len(m.chars))
	hit := make([]bool, len(m.chars))
	for _, f := range findSlowly(a, s) {
		if query[f.term] == 0 {
			continue
		}
		for i := f.first; i < f.end; i++ {
			m.marked[i], hit[i] = true, true
		}
		for i := f.end; i < len(m.chars) && unicode.IsMark(m.chars[i]); i++ {
			m.marked[i] = true
		}
	}
	for _, run := range runsSlowly(s) {
		if gramOf(run[0].r) == 0 {
			m.words = append(m.words, foundOf("", nil, run))
			m.hit = append(m.hit, hit[run[0].at])
			continue
		}
		for _, l := range run {
			m.words = append(m.words, found{"", l.at, l.at + 1})
			m.hit = append(m.hit, hit[l.at])
		}
	}
	return m
}

// spans returns the marks in the characters [from, to).
func (m marking) spans(from, to int) [][2]int {
	spans, unit, last := [][2]int{}, 0, false
	for i := from; i < to; i++ {
		if m.marked[i] && !last {
			spans = append(spans, [2]int{unit, unit})
		}
		unit += len(utf16.Encode(m.chars[i : i+1]))
		if m.marked[i] {
			spans[len(spans)-1][1] = unit
		}
		last = m.marked[i]
	}
	return spans
}

// window returns the first word of the snippet of n words, fewer than all.
func (m marking) window(n int) int {
	best, start, middle := 0, 0, 0
	for i := 0; i+n <= len(m.hit); i++ {
		first, last, hits := -1, -1, 0
		for j := i; j < i+n; j++ {
			if m.hit[j] {
				last, hits = j, hits+1
				if first < 0 {
					first = j
				}
			}
		}
		if hits > best {
			best, start, middle = hits, i, (first+last)/2
		}
	}
	if best > 0 {
		start = middle - n/2
	}
	return min(max(start, 0), len(m.hit)-n)
}

// snippet takes an ellipsis of one unit.
func (m marking) snippet(n int, ellipsis string) (string, [][2]int) {
	if n >= len(m.words) {
		return string(m.chars), m.spans(0, len(m.chars))
	}
	first := m.window(n)
	from, to := 0, len(m.chars)
	if first > 0 {
		from = m.words[first].first
		for from > 0 && unicode.IsMark(m.chars[from]) {
			from--
		}
	}
	if first+n < len(m.words) {
		to = m.words[first+n-1].end
		for to < len(m.chars) && unicode.IsMark(m.chars[to]) {
			to++
		}
	}
	s, spans := string(m.chars[from:to]), m.spans(from, to)
	if from > 0 {
		s = ellipsis + s
		for i := range spans {
			spans[i][0]++
			spans[i][1]++
		}
	}
	if to < len(m.chars) {
		s += ellipsis
	}
	return s, spans
}

func sortedKeys(counts map[string]uint32) []string {
	keys := []string{}
	for term := range counts {
		keys = append(keys, term)
	}
	slices.Sort(keys)
	return keys
}
