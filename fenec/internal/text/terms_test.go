package text_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

// terms returns the distinct terms of s in the order in which they appear.
func terms(a text.Analyzer, s string) string {
	var all []string
	for _, term := range a.Terms(s) {
		all = append(all, term.Text)
	}
	return strings.Join(all, " ")
}

func TestTerms(t *testing.T) {
	var plain text.Analyzer
	chars := text.Analyzer{Chars: true}
	prefix := text.Analyzer{Prefix: 5, PrefixMin: 3}
	tests := []struct {
		name string
		a    text.Analyzer
		text string
		want string
	}{
		{"empty", plain, "", ""},
		{"no words", plain, "?! ... \n\t😀", ""},
		{"order of appearance", plain, "The cat, the dog; a CAT", "the cat dog a"},
		{"digits", plain, "3.14 C++ foo_bar 0x1F", "3 14 c foo bar 0x1f"},
		{"other numbers", plain, "6½ m² Ⅻ ⅻ ٣", "6½ m² ⅻ ٣"},
		{"at both ends", plain, "ab", "ab"},

		{"i of all kinds", plain, "IŞIK ışık işik isik", "işik isik"},
		{"İ", plain, "İSTANBUL i̇stanbul Istanbul", "istanbul"},
		{"Turkish", plain, "ÇĞÖŞÜ Çayı", "çğöşü çayi"},
		{"German", plain, "Straße STRASSE GROẞ groß Übermut", "straße strasse groß übermut"},
		{"Greek final sigma", plain, "ΟΔΟΣ οδος οδός", "οδοσ οδος οδός"},
		{"Russian", plain, "ЁЖ Ёж ёж", "ёж"},
		{"signs that fold to ASCII", plain, "\u212a \u212b", "k å"},
		{"lower case that is longer", plain, "ȺȾ", "ⱥⱦ"},
		{"title case", plain, "ǅ Ǆ", "ǆ"},
		{"circled letters", plain, "Ⓐⓑ", "ⓐⓑ"},

		{"a combining mark ends a word", plain, "cafe\u0301s", "cafe s"},
		{"the dot above does not", plain, "a\u0307b \u0307 \u0307c", "ab c"},
		{"vowel signs that are letters", plain, "किताब", "किताब"},
		{"virama and nukta end a word", plain, "हिन्दी", "हिन दी"},
		{"right to left", plain, "שלום עולם مرحبا، العالم", "שלום עולם مرحبا العالم"},
		{"direction marks end a word", plain, "a\u200fb\u202ec", "a b c"},
		{"emoji glued to words", plain, "go🚀lang👩🏽‍🚀now❤️", "go lang now"},
		{"keycap", plain, "1️⃣st", "1 st"},
		{"full width", plain, "ＡＢＣ１２ ａｂｃ１２　Ｉ！", "abc12 i"},

		{"pairs", plain, "東京都庁", "東京 京都 都庁"},
		{"pairs across scripts of pairs", plain, "東アあ한", "東ア アあ あ한"},
		{"one character", plain, "東", "東"},
		{"the dot above does not part a pair", plain, "東\u0307京", "東京"},
		{"a middle dot does", plain, "ア・イ", "ア イ"},
		{"half width", plain, "ｱｲｳ", "ｱｲ ｲｳ"},
		{"Hangul letters", plain, "ㅋㅋㅋ ㄱ", "ㅋㅋ ㄱ"},
		{"beyond 16 bits", plain, "𠀀𠀁𠀂", "𠀀𠀁 𠀁𠀂"},
		{"scripts part a word", plain, "iPhone東京2020年", "iphone 東京 2020 年"},
		{"a long sound mark belongs", plain, "サーバー", "サー ーバ バー"},
		{"iteration and zero", plain, "人々〇", "人々 々〇"},

		{"chars", chars, "東京都", "東京 東 京都 京 都"},
		{"chars of two", chars, "東京", "東京 東 京"},
		{"chars of one", chars, "東 a", "東 a"},
		{"chars leave triples", chars, "ไทย", "ไทย"},

		{"Thai", plain, "ภาษาไทย", "ภาษ าษา ษาไ าไท ไทย"},
		{"Thai signs", plain, "ที่นี่", "ที่ ี่น ่นี นี่"},
		{"Thai shorter than a triple", plain, "ไท ก", "ไท ก"},
		{"Thai digits, baht and full stop", plain, "๑๒๓๔ ๕฿๖ก๏ข", "๑๒๓ ๒๓๔ ๕฿๖ ฿๖ก ข"},
		{"Lao", plain, "ລາວ", "ລາວ"},
		{"Burmese", plain, "မြန်", "မြန ြန်"},
		{"Khmer", plain, "ខ្មែរ", "ខ្ម ្មែ មែរ"},
		{"Khmer sign beyond the vowels ends a word", plain, "ក៕ខ", "ក ខ"},

		{"prefix", prefix, "kitapların", "kitaplarin ^kit ^kita ^kitap"},
		{"prefix shorter than the word only", prefix, "kit kita kitap", "kit kita ^kit kitap ^kita"},
		{"prefix counts characters", prefix, "çğöşü", "çğöşü ^çğö ^çğöş"},
		{"prefix is of folded text", prefix, "I\u0307I\u0307I\u0307I", "iiii ^iii"},
		{"prefix leaves pairs and triples", prefix, "東京都庁舎 ภาษาไทย", terms(plain, "東京都庁舎 ภาษาไทย")},
		{"prefix of a part of a word", prefix, "東abcd京", "東 abcd ^abc 京"},
		{"least prefix of 0 is 1", text.Analyzer{Prefix: 2}, "abc é1", "abc ^a ^ab é1 ^é"},
		{"least prefix too long", text.Analyzer{Prefix: 2, PrefixMin: 3}, "abcd äbcd", "abcd äbcd"},

		{"not UTF-8", plain, "a\xffb\xc3 c\xe4\xb8", "a b c"},
		{"surrogates as bytes", plain, "a\xed\xa0\x80b", "a b"},
		{"replacement character", plain, "a\ufffdb", "a b"},
		{"NUL", plain, "a\x00b", "a b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, terms(test.a, test.text))
		})
	}
}

func TestTermCounts(t *testing.T) {
	a := text.Analyzer{Prefix: 2, PrefixMin: 2}
	require.Equal(t, []text.Term{{"oak", 2}, {"^oa", 2}, {"so", 1}}, a.Terms("OAK, so oak!"))
}

// matches reports whether the query finds the document.
func matches(a text.Analyzer, doc, query string) bool {
	var b text.Bag
	b.Fill(a, doc)
	for _, term := range a.Terms(query) {
		for i := range b.Len() {
			if got, _ := b.At(i); string(got) == term.Text {
				return true
			}
		}
	}
	return false
}

func TestMatches(t *testing.T) {
	var plain text.Analyzer
	chars := text.Analyzer{Chars: true}
	prefix := text.Analyzer{Prefix: 5, PrefixMin: 3}
	tests := []struct {
		a       text.Analyzer
		doc     string
		finds   string
		without string
	}{
		{plain, "İstanbul'da IŞIK", "istanbul ISTANBUL ışık işik da", "isik"},
		{plain, "Çay şekersiz", "ÇAY", "cay şeker"},
		{plain, "ＡＢＣ１２", "abc12", "abc"},
		{plain, "東京都庁", "京都 東京", "都 東都"},
		{chars, "東京都庁", "京都 東京 都 東都", "区"},
		{plain, "kitapların", "kitapların", "kitap kita"},
		{prefix, "kitapların", "kitapların kitap kita", "kit kiraz"},
		{plain, "3.14 C++ foo_bar", "14 c foo", "foobar"},
		{plain, "", "", "a 東"},
	}
	for _, test := range tests {
		for query := range strings.FieldsSeq(test.finds) {
			require.True(t, matches(test.a, test.doc, query), "%q in %q", query, test.doc)
		}
		for query := range strings.FieldsSeq(test.without) {
			require.False(t, matches(test.a, test.doc, query), "%q in %q", query, test.doc)
		}
	}
}

func TestLongTerms(t *testing.T) {
	longest := strings.Repeat("a", text.MaxTerm)
	require.Equal(t, longest, terms(text.Analyzer{}, strings.ToUpper(longest)))

	first, second := terms(text.Analyzer{}, longest+"b"), terms(text.Analyzer{}, longest+"c")
	require.NotEqual(t, first, second)
	for _, term := range []string{first, second} {
		require.Len(t, term, text.MaxTerm)
		require.Equal(t, longest[:168], term[:168])
		require.NotContains(t, term, "\x00")
	}
	require.Equal(t, first, terms(text.Analyzer{}, longest+"B"), "folded first")

	a := text.Analyzer{Prefix: 64, PrefixMin: 64}
	got := a.Terms(strings.Repeat("𐐀", 65))
	require.Len(t, got, 2)
	require.Len(t, got[1].Text, text.MaxTerm)
	require.True(t, strings.HasPrefix(got[1].Text, "^"+strings.Repeat("𐐨", 41)))
}

// Among the hashes are some that hold a 0.
func TestCutTermsHoldNoZero(t *testing.T) {
	zeros := 0
	for n := text.MaxTerm + 1; n < 300; n++ {
		word := strings.Repeat("a", n)
		hash := sha256.Sum256([]byte(word))
		zeros += bytes.Count(hash[:], []byte{0})
		require.NotContains(t, terms(text.Analyzer{}, word), "\x00")
	}
	require.Positive(t, zeros)
}

// TestTermsAreKept pins the terms that files hold, by those of each character
// and one that was cut; see the package's documentation.
func TestTermsAreKept(t *testing.T) {
	hash := sha256.New()
	var b text.Bag
	for r := range rune(unicode.MaxRune + 1) {
		b.Fill(text.Analyzer{}, "a"+string(r)+"b")
		for i := range b.Len() {
			term, _ := b.At(i)
			fmt.Fprintln(hash, string(term))
		}
	}
	require.Equal(t, "88ee87cbc4429265", fmt.Sprintf("%x", hash.Sum(nil)[:8]))
	require.Equal(t, "a92efd82109373e5", fmt.Sprintf("%x", terms(text.Analyzer{}, strings.Repeat("a", 201))[168:176]))
}
