// Package collation orders texts the way people sort words.
//
// A [Collation] is [None], the order of bytes; [Und], the root collation of the
// Unicode CLDR; or [TR], its tailoring for Turkish. Und and TR compare two texts
// by, in turn,
//
//   - their letters, whole texts at once: a < b, and blanks and punctuation,
//     which count, before digits before letters;
//   - their accents: a < á;
//   - their case, lower first: a < A;
//   - their bytes.
//
// So that the order is total: texts that differ never compare equal. Control
// characters and other characters without any weight count in the last step
// only. TR has ç, ğ, ö, ş and ü as letters after c, g, o, s and u, and ı, whose
// capital is I, before i, whose capital is İ; Und has ı just after i.
//
// [Collation.AppendKey] writes a key whose bytes are in that order, for sorting
// many texts and for indexes. All functions are safe for concurrent use.
//
// # Where weights come from
//
// The weights are those of golang.org/x/text/collate, of CLDR 23 and Unicode
// 6.2: later letters sort by code point after all others. Three things are this
// package's own. Keys are laid out more densely, see [Collation.AppendKey], and
// end with the text's bytes. Texts of Latin letters up to U+017F are keyed from
// a table made of those same weights, several times faster. And two texts are
// compared by their keys, so that the order of an index and that of a comparison
// cannot disagree. The library gives ı in Turkish the weight that the modifier
// letter U+02BD has, which is hence sorted as an ı.
//
// Keys are part of stored files. Whoever takes up a version of the library with
// other weights rebuilds the indexes of collated fields: TestKeysAreKept fails
// then.
package collation
