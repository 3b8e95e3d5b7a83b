package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

var analyzers = []text.Analyzer{
	{},
	{Chars: true},
	{Prefix: 3, PrefixMin: 1},
	{Chars: true, Prefix: 64, PrefixMin: 2},
	{Prefix: 2},
	{Prefix: 2, PrefixMin: 3},
}

// check compares all that the package does with one text and one query.
func check(t *testing.T, a text.Analyzer, doc, query string, n int) {
	t.Helper()
	checkBag(t, a, doc)
	checkTerms(t, a, query)
	checkMarks(t, a, doc, query, n)
	checkFolded(t, a.Terms(doc))
}

// checkFolded checks that a term is its own only term, unless it was cut or is
// that of a prefix, which are no words.
func checkFolded(t *testing.T, terms []text.Term) {
	t.Helper()
	for _, term := range terms {
		if len(term.Text) < text.MaxTerm && term.Text[0] != '^' {
			require.Equal(t, []text.Term{{Text: term.Text, Count: 1}}, text.Analyzer{}.Terms(term.Text))
		}
	}
}

// bag is filled by all tests, so that what one text leaves behind meets another.
var bag text.Bag

func checkBag(t *testing.T, a text.Analyzer, doc string) {
	t.Helper()
	want := countSlowly(a, doc)
	bag.Fill(a, doc)
	require.Equal(t, len(want), bag.Len(), "%q", doc)
	var length uint32
	for i, term := range sortedKeys(want) {
		got, freq := bag.At(i)
		require.Equal(t, term, string(got), "%q", doc)
		require.Equal(t, want[term], freq, "%q in %q", term, doc)
		require.NotContains(t, got, byte(0))
		require.LessOrEqual(t, len(got), text.MaxTerm)
		length += freq
	}
	require.Equal(t, length, bag.Length(), "%q", doc)
}

func checkTerms(t *testing.T, a text.Analyzer, query string) {
	t.Helper()
	got := map[string]uint32{}
	for _, term := range a.Terms(query) {
		require.NotContains(t, got, term.Text, "%q", query)
		got[term.Text] = term.Count
	}
	require.Equal(t, countSlowly(a, query), got, "%q", query)
}

func checkMarks(t *testing.T, a text.Analyzer, doc, query string, n int) {
	t.Helper()
	want := markSlowly(a, doc, countSlowly(a, query))
	m := text.NewMarker(a, a.Terms(query))
	marks := m.Marks(doc)
	require.Equal(t, want.spans(0, len(want.chars)), marks, "%q in %q", query, doc)
	tagged := text.Highlight(doc, marks, "\x00", "\x01")
	require.Equal(t, doc, strings.NewReplacer("\x00", "", "\x01", "").Replace(tagged))

	snippet, marks := m.Snippet(doc, n, "\x02")
	wantSnippet, wantMarks := want.snippet(n, "\x02")
	require.Equal(t, wantSnippet, string([]rune(snippet)), "%q in %q", query, doc)
	require.Equal(t, wantMarks, marks, "%q in %q", query, doc)
}

// alphabets are what random texts are made of.
var alphabets = []string{
	"abcdefgh", "aIiJ", "ABZ019", "Iİıi\u0307", "ĞÜŞÖÇğüşöç", "ΣσςΆΩ", "ЖжЁё", "ßẞſK", "אבגد١ه",
	"東京都庁", "あアｱﾞー々〇", "한국어가", "𠀀𰀀", "ไทยภาษา\u0e31\u0e49\u0e3f", "ລາວ", "မြန်မာ", "ភាសាខ្មែរ", "हिन्दी", "ＡＢｃ１２！～",
	"\u0301\u0308\ufe0f", " .,-'", "😀👩🏽\u200d🅰Ⓐⅳ½²", "\xff", "\xed\xa0\x80", "\xe4\xb8", "\ufffd", "ǅǄⱥȺ",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	few := alphabets[r.IntN(len(alphabets)):]
	few = few[:min(len(few), 1+r.IntN(4))]
	for range n {
		from := few[r.IntN(len(few))]
		if r.IntN(8) == 0 {
			from = alphabets[r.IntN(len(alphabets))]
		}
		if !utf8.ValidString(from) {
			b.WriteString(from)
			continue
		}
		chars := []rune(from)
		b.WriteRune(chars[r.IntN(len(chars))])
	}
	return b.String()
}

func TestRandomTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 6000 {
		doc := randomText(r, r.IntN(60))
		query := randomText(r, r.IntN(6))
		if chars := []rune(doc); len(chars) > 0 && r.IntN(2) == 0 {
			from := r.IntN(len(chars))
			query += string(chars[from : from+r.IntN(min(8, len(chars)-from)+1)])
		}
		check(t, analyzers[r.IntN(len(analyzers))], doc, query, 1+r.IntN(12))
	}
}

// Long words are cut, and tables grow and shrink.
func TestRandomLongTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, a := range analyzers {
		for range 10 {
			doc := randomText(r, 3000)
			if r.IntN(2) == 0 {
				doc = strings.ReplaceAll(strings.Map(noMark, doc), " ", "")
			}
			check(t, a, doc, randomText(r, 40), 1+r.IntN(300))
		}
	}
}

// noMark drops most of what ends words.
func noMark(r rune) rune {
	if unicode.In(r, unicode.P, unicode.M) {
		return -1
	}
	return r
}

func FuzzText(f *testing.F) {
	for i, alphabet := range alphabets {
		f.Add(alphabet+" ab "+alphabets[(i+9)%len(alphabets)], alphabet, uint8(i), uint8(i))
	}
	f.Add(strings.Repeat("a", 201), strings.Repeat("A", 201), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, doc, query string, which, n uint8) {
		doc = strings.NewReplacer("\x00", "", "\x01", "").Replace(doc)
		check(t, analyzers[int(which)%len(analyzers)], doc, query, 1+int(n))
	})
}
