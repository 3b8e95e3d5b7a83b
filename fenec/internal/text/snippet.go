package text

import "unicode/utf8"

// Snippet returns a part of text that is n words long, n >= 1, and the marks in
// what it returns, as Marks has them. A word is here also each character of the
// scripts that are cut.
//
// The part is the earliest of those with the most words that are hits, then
// moved so that the first and the last of these lie around its middle. It has n/2
// words before that middle, so a last hit falls out where hits were at both ends
// and n is even. Without a hit it is the first n words. It begins where the text
// does if its first word is the text's first, ends where the text does if its
// last word is the text's last, and never parts a character from its combining
// marks. The ellipsis stands where something was left out.
func (m *Marker) Snippet(text string, n int, ellipsis string) (snippet string, marks [][2]int) {
	m.find(text)
	part := m.part(text, n)
	snippet = text[part.from:part.to]
	marks = units(snippet, m.spansIn(part))
	if part.from > 0 {
		snippet = ellipsis + snippet
		shift(marks, unitsOf(ellipsis))
	}
	if part.to < len(text) {
		snippet += ellipsis
	}
	return snippet, marks
}

// part returns the bytes that the snippet of n words is made of.
func (m *Marker) part(text string, n int) span {
	part := span{0, len(text)}
	first := m.window(n)
	if first > 0 {
		part.from = beforeMarks(text, m.words[first].from)
	}
	if len(m.words)-first > n {
		part.to = afterMarks(text, m.words[first+n-1].to)
	}
	return part
}

// window returns the first word of the snippet of n words.
func (m *Marker) window(n int) int {
	if n >= len(m.words) {
		return 0
	}
	start, ok := m.densest(n)
	if !ok {
		return 0
	}
	first, last := start, start+n-1
	for !m.words[first].hit {
		first++
	}
	for !m.words[last].hit {
		last--
	}
	return min(max((first+last)/2-n/2, 0), len(m.words)-n)
}

// densest returns the first of the n words in a row, fewer than there are, that
// have the most hits; it is not ok if there are no hits.
func (m *Marker) densest(n int) (start int, ok bool) {
	hits, most := 0, 0
	for i, w := range m.words {
		if w.hit {
			hits++
		}
		if i >= n && m.words[i-n].hit {
			hits--
		}
		if hits > most {
			start, most = max(i-n+1, 0), hits
		}
	}
	return start, most > 0
}

// beforeMarks returns where the character begins that pos is in, if what stands
// at pos is a combining mark, else pos.
func beforeMarks(text string, pos int) int {
	classes := classes()
	for pos > 0 {
		r, _ := utf8.DecodeRuneInString(text[pos:])
		if classes[r]&mark == 0 {
			break
		}
		_, size := utf8.DecodeLastRuneInString(text[:pos])
		pos -= size
	}
	return pos
}

// spansIn returns what is of the spans in a part of the text, counted from where
// the part begins.
func (m *Marker) spansIn(part span) []span {
	var in []span
	for _, s := range m.spans {
		from, to := max(s.from, part.from), min(s.to, part.to)
		if from < to {
			in = append(in, span{from - part.from, to - part.from})
		}
	}
	return in
}

func shift(marks [][2]int, by int) {
	for i := range marks {
		marks[i][0] += by
		marks[i][1] += by
	}
}
