// Package catalog holds the definitions of a database: its collections, their
// fields and the indexes on these, as checked structures and as stored bytes.
//
// A [Catalog] is the set of all collections at one moment. It never changes:
// what creates, alters or drops returns another one, so that a snapshot keeps
// the definitions it began with and a block that is undone leaves nothing
// behind. A [Collection] never changes either, hence two equal pointers are the
// same definition. An altered collection is another one with the same number.
//
// Rows hold fields by place, and no alteration rewrites rows: a field that is
// added comes last, one that is dropped keeps its place without a name, and one
// that is renamed stays where it is.
//
// Collections, and the spaces that hold their rows and index entries, are
// numbered from one sequence that starts at 1; 0 is the space of the
// definitions themselves. The spaces of search indexes are in ranges of their own,
// from [SearchSpaces] on, which are no part of the number drawn. A number is never
// given out twice, not even after a drop: whoever stores the collections stores
// [Catalog.Next] with them.
//
// Errors are of package fault, in the kinds the language gives them; stored
// bytes that cannot be read give [ErrCorrupt]. Everything here may be shared
// between goroutines.
package catalog
