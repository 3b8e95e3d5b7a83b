// Package text turns texts into search terms, for indexing and for queries, and
// marks in a text what a query has found.
//
// An [Analyzer] holds the options of one text index. A [Bag] counts the terms of
// a document; it is filled again and again without allocating.
// [Analyzer.Terms] gives the terms of a query. A [Marker] finds a query's terms
// in texts, as [Marker.Marks] or as a [Marker.Snippet]; [Highlight] puts tags
// around them.
//
// # Terms
//
// A word is a stretch of characters that Unicode calls alphabetic or numeric,
// together with U+0307 and the vowel and tone signs of Thai, Lao, Burmese and
// Khmer. All else ends a word: punctuation, emoji, the other combining marks,
// bytes that are not UTF-8.
//
// Characters are folded one by one, by no language's rules: to lower case, I, İ
// and ı all to i, full-width forms to ASCII; U+0307, which is what lower-casing
// İ leaves elsewhere, is dropped. No accent is removed, ß stays, and a final
// sigma is not a sigma.
//
// A word is cut where its script changes. Chinese, Japanese and Korean become
// overlapping pairs of characters, Thai, Lao, Burmese and Khmer overlapping
// triples, as these write no blanks between words (Korean does, but inflects);
// a stretch too short for that is one term. A stretch of any other scripts is
// one term. [Analyzer.Chars] and [Analyzer.Prefix] add terms to these.
//
// What holds of every term: it is not empty, holds no byte 0x00, and has at most
// 200 bytes. It is valid UTF-8 and folds to itself, unless it was longer and has
// been cut (see [MaxTerm]).
//
// # What is kept in files
//
// Terms are part of stored files. Letters and their lower case are those of the
// unicode package, so of the Go release that the program is built with: a
// release that knows more letters finds other terms in texts with them, and
// indexes over such texts are to be rebuilt. TestTermsAreKept fails then.
package text
