// Package catalog holds the definitions of a database: its collections, their
// fields and the indexes on these, as checked structures and as stored bytes.
//
// A [Catalog] is the set of all collections at one moment. It never changes:
// [Catalog.Create], [Catalog.Add] and [Catalog.Drop] return another one, so
// that a snapshot keeps the definitions it began with and a block that is
// undone leaves nothing behind. A [Collection] never changes either, hence two
// equal pointers are the same definition.
//
// Collections, and the spaces that hold their rows and index entries, are
// numbered from one sequence that starts at 1; 0 is the space of the
// definitions themselves. A number is never given out twice, not even after a
// drop: whoever stores the collections stores [Catalog.Next] with them.
//
// Errors are of package fault, in the kinds the language gives them; stored
// bytes that cannot be read give [ErrCorrupt]. Everything here may be shared
// between goroutines.
package catalog
