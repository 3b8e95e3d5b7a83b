// Package graphs keeps the graphs of a database's vector indexes: it loads them on
// first use, links what has changed since, and gives what is to be stored of them
// to the folds of the store.
//
// # What a graph shows
//
// A graph stands for the base, never for the fronts above it. Blocks note the ids
// of rows whose vectors change (package table); a fold makes these notes pending
// in the base; and a linker takes pending changes up in their order, deletes the
// ids from the graph and inserts the vectors that the rows have in the base then.
// [Graph.Linked] is the last change that was taken up.
//
// A reader at any snapshot leaves out, of what a search of the graph finds, the
// ids that its fronts have notes of and those pending after Linked, which it asks
// for before it searches, and looks at these rows itself. All others are in the
// graph as it sees them: a fold brings into the base only what every open
// snapshot has seen, so what the linker reads there is older than each of them,
// and what is newer has a note in its front.
//
// # What is stored
//
// The space of a graph ([catalog.Index.GraphSpace]) has
//
//	{0}           the last change taken up, as package table stores it
//	{1}           the header (package hnsw)
//	{2}           the description of codes, if vectors are quantised
//	{3} number4   a chunk, by its number, big endian
//
// All but {0} are sealed with a checksum, as rows are.
//
// A fold writes those that have changed, all in one transaction, so that what is
// stored is the graph of one moment, and {0} tells of which. What was linked
// later, and is lost, is pending still. Vectors are not stored: they are read
// from the rows. [Verify] checks what is stored.
//
// # When
//
// A linker runs after each fold and after a graph has been loaded, until nothing is
// pending. The linkers of all databases of a process share a bounded number of turns.
// What they have taken up is stored by the next fold, for which they ask ([Folds]), so
// that it comes though nobody writes. A search that had to measure very many rows of the
// fronts asks for one at once.
//
// # Failures
//
// A change that cannot be taken up, since its row is damaged, stays pending with all
// after it, and searches go on to measure these rows. [Set.Failure] tells why, until
// a later try succeeds; there is one after each fold.
package graphs
