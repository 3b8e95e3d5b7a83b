package text_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

func TestSnippet(t *testing.T) {
	tests := []struct {
		name  string
		query string
		text  string
		n     int
		want  string // with tags
	}{
		{"cut in front", "pine", "oak oak pine", 2, "~oak [pine]"},
		{"cut at both ends", "pine", "elm birch pine maple", 2, "~birch [pine]~"},
		{"cut behind", "elm", "elm birch pine maple", 2, "[elm] birch~"},
		{"no hit", "fir", "(elm) birch pine maple.", 2, "(elm) birch~"},
		{"as long as the text", "birch", "(elm) birch.", 2, "(elm) [birch]."},
		{"longer", "birch", "(elm) birch.", math.MaxInt, "(elm) [birch]."},
		{"no words", "elm", "?!", 1, "?!"},
		{"empty", "elm", "", 1, ""},
		{"one word", "c", "a b c d", 1, "~[c]~"},
		{"to the ends of the text", "d", "(a) (b) (c) (d).", 2, "~c) ([d])."},
		{"punctuation inside", "b", "a, b, c, d", 3, "a, [b], c~"},

		{"most hits", "x", "x a b c x x d e", 3, "~c [x] [x]~"},
		{"earliest of the best", "x", "a b x c d x e f", 2, "~b [x]~"},
		{"centred", "x", "a b c d x e f g h", 5, "~c d [x] e f~"},
		{"centred among many", "x", "a b c x x e f g h", 6, "a b c [x] [x] e~"},
		{"even, hits at both ends", "x", "a b x x e f", 2, "~b [x]~"},
		{"odd, hits at both ends", "x", "a b x c x e f", 3, "~[x] c [x]~"},
		{"even, more hits between", "x", "a b x c d x e x x f g", 4, "~d [x] e [x]~"},

		{"characters are words", "京都", "私は京都に住む", 4, "私は[京都]~"},
		{"a hit that is cut", "東京都", "私は東京都庁", 2, "~は[東]~"},
		{"Thai", "ไทย", "กขคงไทยกขคง", 5, "~ง[ไทย]ก~"},
		{"words and characters", "tokyo", "私はTokyo東京へ行く", 3, "~は[Tokyo]東~"},
		{"a word keeps its marks", "b", "a b\u0301 c", 1, "~[b\u0301]~"},
		{"at the end as well", "fir", "a\u0301\u0301 b", 1, "a\u0301\u0301~"},
		{"a character keeps its signs", "กกก", "xกกก\u0e49\u0e49ข", 1, "~[ก]~"},
		{"a sign keeps its character", "\u0e49ขข", "งก\u0e31\u0e49ขข งงงง", 3, "~ก\u0e31[\u0e49ขข]~"},
		{"emoji", "b", "a 👩🏽‍🚀 b 👩🏽‍🚀 c", 1, "~[b]~"},
		{"not UTF-8", "b", "a\xff b \xffc", 2, "a\xff [b]~"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, marks := marker(text.Analyzer{}, test.query).Snippet(test.text, test.n, "~")
			require.Equal(t, test.want, text.Highlight(s, marks, "[", "]"))
		})
	}
}

func TestSnippetMarks(t *testing.T) {
	m := marker(text.Analyzer{}, "pine")
	s, marks := m.Snippet("oak oak pine", 2, "")
	require.Equal(t, "oak pine", s)
	require.Equal(t, [][2]int{{4, 8}}, marks)
	s, marks = m.Snippet("oak oak pine", 2, "🚀… ")
	require.Equal(t, "🚀… oak pine", s)
	require.Equal(t, [][2]int{{8, 12}}, marks)
	s, marks = m.Snippet("oak", 2, "…")
	require.Equal(t, "oak", s)
	require.Equal(t, [][2]int{}, marks)
}
