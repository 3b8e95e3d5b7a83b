// Package exec carries out the statements on documents: get, explain, put,
// insert, set and del.
//
// A statement is compiled once for a collection, by [Compile], and run many
// times, with other parameters and by many goroutines at once. It stays valid
// for as long as the catalog has the collection it was compiled for: see
// [Valid].
//
//   - A [Query] reads, through a view or within a block, and gives a [Result].
//   - A [Write] writes within a block and gives the number of documents written
//     or deleted. After an error the block may hold a part of them: whoever
//     began it undoes it.
//
// A write first finds the rows it changes and then changes them, so that it
// never meets its own work; what it computes reads the rows as they were.
//
// Limits. A value of a document takes at most expr.MaxText bytes as it is
// stored, and a document MaxDocument.
//
// Errors are of package fault, in the kinds of the language. Those that the
// statement alone shows, with the collection's definition, come from Compile.
package exec
