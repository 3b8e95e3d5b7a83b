package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

func marker(a text.Analyzer, query string) *text.Marker {
	return text.NewMarker(a, a.Terms(query))
}

func TestMarks(t *testing.T) {
	var plain text.Analyzer
	chars := text.Analyzer{Chars: true}
	prefix := text.Analyzer{Prefix: 5, PrefixMin: 3}
	tests := []struct {
		name  string
		a     text.Analyzer
		query string
		text  string
		want  string // the text with tags
	}{
		{"each", plain, "oak", "oak oak pine", "<oak> <oak> pine"},
		{"in either case", plain, "elm", "Oak ELM", "Oak <ELM>"},
		{"none", plain, "fir", "oak", "oak"},
		{"no query", plain, "?", "oak?", "oak?"},
		{"empty", plain, "oak", "", ""},
		{"not a part of a word", plain, "oak", "oaks soak", "oaks soak"},
		{"what was folded", plain, "ışık", "IŞIK, i̇şik", "<IŞIK>, <i̇şik>"},
		{"full width", plain, "abc", "（ＡＢＣ）", "（<ＡＢＣ>）"},
		{"long word", plain, long, "a " + long, "a <" + long + ">"},

		{"a combining mark behind", plain, "cafe", "cafe\u0301s", "<cafe\u0301>s"},
		{"several", plain, "e", "e\u0301\u0327\ufe0f x", "<e\u0301\u0327\ufe0f> x"},
		{"a mark in front", plain, "s", "cafe\u0301s", "cafe\u0301<s>"},
		{"a mark between hits", plain, "cafe s", "cafe\u0301s", "<cafe\u0301s>"},
		{"dot above in front", plain, "a", "\u0307a\u0307", "\u0307<a\u0307>"},
		{"keycap", plain, "1", "1️⃣", "<1️⃣>"},
		{"no mark but a joiner", plain, "a", "a\u200d b", "<a>\u200d b"},

		{"pairs", plain, "京都", "東京都庁", "東<京都>庁"},
		{"pairs that overlap", plain, "東京都", "東京都庁東京", "<東京都>庁<東京>"},
		{"pairs that touch", plain, "東京 都庁", "東京都庁", "<東京都庁>"},
		{"a part of a pair", plain, "京", "東京", "東京"},
		{"chars", chars, "京", "東京都", "東<京>都"},
		{"one character", plain, "京", "京 東京", "<京> 東京"},
		{"scripts that touch", plain, "tokyo 東京", "Tokyo東京都", "<Tokyo東京>都"},
		{"a dot above in a pair", plain, "東京", "x東\u0307京\u0307", "x<東\u0307京\u0307>"},

		{"triples", plain, "ไทย", "ภาษาไทยดี", "ภาษา<ไทย>ดี"},
		{"triple before a sign", plain, "กกก", "กกก\u0e49\u0e49ข", "<กกก\u0e49\u0e49>ข"},
		{"Thai behind a word", plain, "a", "a\u0e31ก", "<a\u0e31>ก"},

		{"a prefix marks the word", prefix, "kita", "Kitapların kit", "<Kitapların> kit"},
		{"prefix of both", prefix, "kitaplik", "kitapsız kiraz", "<kitapsız> kiraz"},
		{"prefix in a part of a word", prefix, "abcd", "東abcde京", "東<abcde>京"},

		{"emoji before", plain, "a", "👩🏽‍🚀a👩🏽‍🚀 a", "👩🏽‍🚀<a>👩🏽‍🚀 <a>"},
		{"right to left", plain, "עולם", "שלום עולם!", "שלום <עולם>!"},
		{"not UTF-8", plain, "b", "a\xff\xed\xa0\x80b\xe4\xb8 b", "a\xff\xed\xa0\x80<b>\xe4\xb8 <b>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			marks := marker(test.a, test.query).Marks(test.text)
			require.Equal(t, test.want, text.Highlight(test.text, marks, "<", ">"))
		})
	}
}

// long is longer than a term may be.
var long = func() string {
	b := make([]byte, text.MaxTerm+1)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}()

func TestMarksAreUTF16(t *testing.T) {
	tests := []struct {
		query, text string
		want        [][2]int
	}{
		{"oak", "oak oak pine", [][2]int{{0, 3}, {4, 7}}},
		{"oak", "elm", [][2]int{}},
		{"b", "äb é b", [][2]int{{5, 6}}},
		{"b", "東—b", [][2]int{{2, 3}}},
		{"b", "🚀b", [][2]int{{2, 3}}},
		{"𠀀𠀁", "𠀀𠀁", [][2]int{{0, 4}}},
		{"b", "\xff\xed\xa0\x80\xe4\xb8 b", [][2]int{{7, 8}}},
	}
	for _, test := range tests {
		require.Equal(t, test.want, marker(text.Analyzer{}, test.query).Marks(test.text), test.text)
	}
}

func TestMarkerIsReused(t *testing.T) {
	m := marker(text.Analyzer{}, "oak")
	first := m.Marks("oak oak")
	require.Equal(t, [][2]int{{1, 4}}, m.Marks("(oak)"))
	require.Empty(t, m.Marks("elm"))
	require.Equal(t, [][2]int{{0, 3}, {4, 7}}, first)
}

func TestHighlightTags(t *testing.T) {
	require.Equal(t, "a", text.Highlight("a", nil, "<b>", "</b>"))
	require.Equal(t, "", text.Highlight("", nil, "<b>", "</b>"))
	require.Equal(t, "<b>a</b> <b>c</b>", text.Highlight("a c", [][2]int{{0, 1}, {2, 3}}, "<b>", "</b>"))
	require.Equal(t, "ac", text.Highlight("ac", [][2]int{{0, 1}}, "", ""))
}

func BenchmarkMarks(b *testing.B) {
	for _, language := range []string{"English", "Chinese"} {
		b.Run("language="+language, func(b *testing.B) {
			m := marker(text.Analyzer{}, "pages readers 图书馆")
			b.SetBytes(int64(len(prose[language])))
			b.ReportAllocs()
			for b.Loop() {
				m.Marks(prose[language])
			}
		})
	}
}
