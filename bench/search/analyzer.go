package main

import "unicode"

// script says how a run of characters of a word becomes terms.
type script int

const (
	whole   script = 0 // one term
	pairs   script = 2 // each two characters that follow each other
	triples script = 3 // each three
)

// inWords are the marks that belong to words although they are neither letters
// nor numbers.
var inWords = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0307, Hi: 0x0307, Stride: 1},
	{Lo: 0x0e31, Hi: 0x0e4e, Stride: 1},
	{Lo: 0x0eb1, Hi: 0x0ecd, Stride: 1},
	{Lo: 0x102b, Hi: 0x103e, Stride: 1},
	{Lo: 0x17b4, Hi: 0x17d3, Stride: 1},
}}

var pairScripts = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x11ff, Stride: 1},
		{Lo: 0x3005, Hi: 0x3007, Stride: 1},
		{Lo: 0x3041, Hi: 0x30ff, Stride: 1},
		{Lo: 0x3131, Hi: 0x318e, Stride: 1},
		{Lo: 0x31f0, Hi: 0x31ff, Stride: 1},
		{Lo: 0x3400, Hi: 0x4dbf, Stride: 1},
		{Lo: 0x4e00, Hi: 0x9fff, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7ff, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xff66, Hi: 0xffdc, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x20000, Hi: 0x3ffff, Stride: 1}},
}

var tripleScripts = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0e00, Hi: 0x0eff, Stride: 1},
	{Lo: 0x1000, Hi: 0x109f, Stride: 1},
	{Lo: 0x1780, Hi: 0x17ff, Stride: 1},
}}

// prefixMin is how many characters the shortest prefix has that is a term too.
const prefixMin = 3

// terms returns the terms of a text in their order, by the rules of @text, with
// prefixes of up to prefix characters, or none if it is 0. It is written from the
// rules alone, as something to hold fenec against.
func terms(text string, prefix int) []string {
	var (
		out []string
		run []rune
		of  script
	)
	end := func() { out, run = appendTerms(out, run, of, prefix), run[:0] }
	for _, r := range text {
		if !inWord(r) {
			end()
			continue
		}
		r = fold(r)
		if r == dotAbove {
			continue
		}
		if s := scriptOf(r); s != of {
			end()
			of = s
		}
		run = append(run, r)
	}
	return appendTerms(out, run, of, prefix)
}

func appendTerms(out []string, run []rune, of script, prefix int) []string {
	n := int(of)
	switch {
	case len(run) == 0:
		return out
	case of == whole:
		return appendPrefixes(append(out, string(run)), run, prefix)
	case len(run) < n:
		return append(out, string(run))
	}
	for i := range len(run) - n + 1 {
		out = append(out, string(run[i:i+n]))
	}
	return out
}

// appendPrefixes appends those of a word that are shorter than it is.
func appendPrefixes(out []string, word []rune, prefix int) []string {
	for k := prefixMin; k <= min(prefix, len(word)-1); k++ {
		out = append(out, "^"+string(word[:k]))
	}
	return out
}

func inWord(r rune) bool {
	return unicode.In(r, unicode.Letter, unicode.Number, unicode.Other_Alphabetic, inWords)
}

const dotAbove = '\u0307'

func fold(r rune) rune {
	switch {
	case r == 'I' || r == 'İ' || r == 'ı':
		return 'i'
	case r >= 0xff01 && r <= 0xff5e:
		return unicode.ToLower(r - 0xff01 + '!')
	}
	return unicode.ToLower(r)
}

func scriptOf(r rune) script {
	switch {
	case unicode.Is(pairScripts, r):
		return pairs
	case unicode.Is(tripleScripts, r):
		return triples
	}
	return whole
}
