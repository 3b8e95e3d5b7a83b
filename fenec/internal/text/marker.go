package text

import (
	"strings"
	"unicode/utf8"
)

// A Marker finds the terms of one query in texts. It keeps memory from text to
// text and is not safe for concurrent use.
type Marker struct {
	analyzer Analyzer
	terms    map[string]struct{}
	run      run

	// What find has found in a text, in ascending order.
	// Invariant: spans neither touch nor overlap.
	spans []span
	words []word
}

// A span is the bytes [from, to) of a text.
type span struct{ from, to int }

// A word is what a snippet counts: a character of a script that is cut, else a
// run. It is a hit when a term of the query stands for it.
type word struct {
	span
	hit bool
}

// NewMarker returns a marker of what the analyzer's Terms gave for a query. The
// analyzer is that of the index which answered the query.
func NewMarker(a Analyzer, query []Term) *Marker {
	m := &Marker{analyzer: a, terms: make(map[string]struct{}, len(query))}
	for _, t := range query {
		m.terms[t.Text] = struct{}{}
	}
	return m
}

// Marks returns where the terms of the query are in text, as half-open ranges of
// UTF-16 units in ascending order. Ranges that touch or overlap are joined, each
// reaches over the combining marks that follow it, and a prefix that is found
// marks its whole word. A byte that is not UTF-8 is one unit. The caller owns the
// result.
func (m *Marker) Marks(text string) [][2]int {
	m.find(text)
	return units(text, m.spans)
}

// find sets words to all words of text, and spans to its hits.
func (m *Marker) find(text string) {
	m.spans, m.words = m.spans[:0], m.words[:0]
	classes := classes()
	for pos := 0; pos < len(text); {
		m.run.start(nil, pos)
		pos = m.run.read(text, pos, classes)
		if !m.run.empty() {
			m.findInRun(text)
		}
	}
}

func (m *Marker) findInRun(text string) {
	start := len(m.words)
	m.addWords()
	words := m.words[start:]
	m.run.terms(m.analyzer, func(term []byte, first, end int) {
		if _, ok := m.terms[string(term)]; !ok {
			return
		}
		for i := range words[first:end] {
			words[first+i].hit = true
		}
		m.addSpan(text, span{words[first].from, words[end-1].to})
	})
}

// addWords adds the words of the run.
func (m *Marker) addWords() {
	if m.run.script == 0 {
		m.words = append(m.words, word{span: span{m.run.from, m.run.to}})
		return
	}
	for _, c := range m.run.chars {
		m.words = append(m.words, word{span: c.source})
	}
}

// addSpan adds a hit that begins no earlier than those before it. A hit inside
// the last span is not widened, so that many hits before many combining marks
// take no longer than the text is.
func (m *Marker) addSpan(text string, s span) {
	if n := len(m.spans); n > 0 && s.from <= m.spans[n-1].to {
		last := &m.spans[n-1]
		if s.to > last.to {
			last.to = afterMarks(text, s.to)
		}
		return
	}
	m.spans = append(m.spans, span{s.from, afterMarks(text, s.to)})
}

// afterMarks returns where the combining marks at pos, if any, end.
func afterMarks(text string, pos int) int {
	classes := classes()
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if classes[r]&mark == 0 {
			break
		}
		pos += size
	}
	return pos
}

// Highlight returns text with pre and post around each mark. The marks are those
// of a [Marker] for that text.
func Highlight(text string, marks [][2]int, pre, post string) string {
	var b strings.Builder
	b.Grow(len(text) + len(marks)*(len(pre)+len(post)))
	at, unit := 0, 0
	for _, m := range marks {
		from := at + bytesOf(text[at:], m[0]-unit)
		to := from + bytesOf(text[from:], m[1]-m[0])
		b.WriteString(text[at:from])
		b.WriteString(pre)
		b.WriteString(text[from:to])
		b.WriteString(post)
		at, unit = to, m[1]
	}
	b.WriteString(text[at:])
	return b.String()
}
