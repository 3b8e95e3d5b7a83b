package fenec_test

import (
	"cmp"
	"slices"
	"strings"
)

// collatedLetters are the letters that texts of collated fields are made of, in
// the order of each collation: letters in one group differ in accents, those
// joined by a blank are the small letter and the capital.
var collatedLetters = map[string][]string{
	"und": {"a A", "b B", "c C,ç Ç", "d D", "e E,é É", "g G,ğ Ğ", "i I,- İ", "ı -", "o O,ö Ö", "s S,ş Ş", "u U,ü Ü", "z Z"},
	"tr":  {"a A", "b B", "c C", "ç Ç", "d D", "e E,é É", "g G", "ğ Ğ", "ı I", "i İ", "o O", "ö Ö", "s S", "ş Ş", "u U", "ü Ü", "z Z"},
}

// weight is what a letter counts for on the three levels of a collation.
type weight struct{ letter, accent, capital int }

var collatedWeights = weigh(collatedLetters)

func weigh(collations map[string][]string) map[string]map[string]weight {
	out := map[string]map[string]weight{}
	for name, groups := range collations {
		out[name] = map[string]weight{}
		for i, group := range groups {
			for accent, pair := range strings.Split(group, ",") {
				for capital, letter := range strings.Fields(pair) {
					out[name][letter] = weight{i, accent, capital}
				}
			}
		}
	}
	return out
}

// compareTexts compares two texts by their bytes, or as people sort those that
// are made of collatedLetters.
func compareTexts(a, b, collate string) int {
	if collate == "" {
		return strings.Compare(a, b)
	}
	x, y := weights(a, collate), weights(b, collate)
	level := func(of func(weight) int) int {
		return slices.CompareFunc(x, y, func(v, w weight) int { return cmp.Compare(of(v), of(w)) })
	}
	return cmp.Or(
		level(func(w weight) int { return w.letter }),
		level(func(w weight) int { return w.accent }),
		level(func(w weight) int { return w.capital }),
		strings.Compare(a, b),
	)
}

func weights(s, collate string) []weight {
	var out []weight
	for _, r := range s {
		w, ok := collatedWeights[collate][string(r)]
		if !ok {
			panic(errUnsure)
		}
		out = append(out, w)
	}
	return out
}
