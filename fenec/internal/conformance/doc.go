// Package conformance runs scripts of statements and their answers against
// anything that answers statements: it is for tests.
//
// A script is a file. Lines that begin with "#" are comments. After a line
// "fixture" come the statements that make what every case begins with; after
// "cases" the cases, and after "cases about indexes" those that make no sense
// where the fixture has no optional indexes. "keep @hash" says that an index of
// that kind is not optional, since a clause needs it. Every case begins with a
// fresh fixture, at 2026-06-01T00:00:00Z.
//
// A case is one line, "step ;; step => answer": the answer is that of the last
// step. A step is
//
//	statement                a statement
//	statement with [1, "x"]  a statement with its parameters as JSON
//	[statement, statement]   a batch
//
// and before either "(clock +1000)" sets the clock that many milliseconds after
// the beginning. An answer is
//
//	ids 1,3                  the ids of rows, in order; "ids -" for none
//	scores 1:0.5,3:2         the ids of rows, each with about its score
//	rows [[1,"x"]]           the columns of rows, in order, but for the score
//	approx 1e-3 [[1.5]]      the same for numbers, each about as given
//	json [{"id":1}]          the answer's very JSON
//	len 3                    the number of rows
//	1:[2,3] 4:[]             ids of rows, each with those of its children
//	n=3                      the number of documents written
//	count 4                  the answer of a count
//	ok                       a message
//	plan rows: 3             the last line of an explain
//	err query                an error of that kind, and nothing was changed
//
// "; field: 3 2, null 1" after ids or a count is a facet: values with their
// counts, "none" for no value. The answers of a batch are joined by " | ", and
// its error may end in ", at 1". " then statement => answer" after an answer asks
// something once more.
package conformance
