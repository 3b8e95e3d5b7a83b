package text

import (
	"sync"
	"unicode"
)

// A class is what the analyzer knows about a character, as bits.
type class uint8

const (
	inWord  class = 1 << iota // belongs to a word
	folds                     // fold changes it
	mark                      // a combining mark: Unicode's Mn, Mc and Me
	pairs                     // of a script that is cut into pairs
	triples                   // of a script that is cut into triples

	scripts = pairs | triples
)

// classTable has the class of each character. Most of its pages are never
// touched, so they take no memory.
type classTable [unicode.MaxRune + 1]class

// classesOf holds the table that classes returns once it is built.
var classesOf classTable

var buildOnce sync.Once

// classes returns the table, which the first call builds in under a millisecond.
func classes() *classTable {
	buildOnce.Do(classesOf.build)
	return &classesOf
}

// between is the characters from lo to hi, both included.
type between struct{ lo, hi rune }

// signs are the characters that belong to words without being letters: the dot
// that lower-casing İ leaves, and vowel and tone signs.
var signs = []between{
	{0x0307, 0x0307},
	{0x0e31, 0x0e4e}, // Thai
	{0x0eb1, 0x0ecd}, // Lao
	{0x102b, 0x103e}, // Burmese
	{0x17b4, 0x17d3}, // Khmer
}

var pairScripts = []between{
	{0x1100, 0x11ff},   // Hangul letters
	{0x3005, 0x3007},   // 々 〆 〇
	{0x3041, 0x30ff},   // Hiragana, Katakana
	{0x3131, 0x318e},   // Hangul letters that do not join
	{0x31f0, 0x31ff},   // small Katakana
	{0x3400, 0x4dbf},   // Han
	{0x4e00, 0x9fff},   // Han
	{0xa960, 0xa97f},   // old Hangul letters
	{0xac00, 0xd7ff},   // Hangul syllables
	{0xf900, 0xfaff},   // Han
	{0xff66, 0xffdc},   // half-width Katakana and Hangul
	{0x20000, 0x3ffff}, // Han
}

var tripleScripts = []between{
	{0x0e00, 0x0eff}, // Thai, Lao
	{0x1000, 0x109f}, // Burmese
	{0x1780, 0x17ff}, // Khmer
}

// build fills the table. Alphabetic is a property derived from Letter, Nl and
// Other_Alphabetic, of which Number holds the second.
func (t *classTable) build() {
	for _, set := range []*unicode.RangeTable{unicode.Letter, unicode.Number, unicode.Other_Alphabetic} {
		t.addTable(set, inWord)
	}
	t.addTable(unicode.Mark, mark)
	t.add(signs, inWord)
	t.add(pairScripts, pairs)
	t.add(tripleScripts, triples)
	t.addFolds(unicode.CaseRanges)
	t.addFolds([]unicode.CaseRange{{Lo: 0x0307, Hi: 0x0307}, {Lo: fullWidthFirst, Hi: fullWidthLast}})
}

func (t *classTable) addTable(set *unicode.RangeTable, c class) {
	for _, r := range set.R16 {
		t.addRange(rune(r.Lo), rune(r.Hi), rune(r.Stride), c)
	}
	for _, r := range set.R32 {
		t.addRange(rune(r.Lo), rune(r.Hi), rune(r.Stride), c)
	}
}

func (t *classTable) add(ranges []between, c class) {
	for _, r := range ranges {
		t.addRange(r.lo, r.hi, 1, c)
	}
}

func (t *classTable) addRange(lo, hi, stride rune, c class) {
	for r := lo; r <= hi; r += stride {
		t[r] |= c
	}
}

func (t *classTable) addFolds(ranges []unicode.CaseRange) {
	for _, cr := range ranges {
		for r := rune(cr.Lo); r <= rune(cr.Hi); r++ {
			if folded, _ := fold(r); folded != r {
				t[r] |= folds
			}
		}
	}
}
