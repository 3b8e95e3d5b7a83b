// Package plan finds the documents that a statement picks: those that pass its
// filter, in its order, without those before its offset and past its limit.
//
// [Compile] looks at the filter once: which of its terms, joined by and, an
// index or the ids can answer, and under or, whether one can answer every side.
// [Plan.Run] then chooses by what it finds:
//
//   - a few ids or index entries: those rows and no others. Indexes that could
//     serve race each other, entry by entry, and the shortest wins. Of a list of
//     values, written out or found by a get, each leads to entries, as long
//     as there are few of them beside the rows.
//   - an index on what is sorted by, when there is a limit: its entries in
//     order, for as long as it takes to fill the page.
//   - entries of one value, when there is a limit and no order: they come by
//     ascending id.
//   - otherwise the rows themselves, within the bounds that the filter sets to
//     their ids.
//
// A choice that goes wrong is given up after a part of the collection, and the
// run goes on with the next best. Whatever the path, the answer is the one of a
// scan: every row is tested against the whole filter, equal rows come by
// ascending id, and nulls come first, or last where the order descends. Only
// errors differ: a row that is not looked at raises none.
//
// An index serves what compares as its entries are ordered: fields, paths into
// json, whose values may be of any kind, and texts under the collation of their
// field. Its entries may lead to rows that do not pass, as where numbers beyond
// 2^53 or points of one cell are concerned; it never leaves one out.
//
// Rows that are expired do not pass, unless the filter names expired().
//
// Memory is bounded by what must be held: offset plus limit rows under an order
// that no index serves, all picked rows without a limit, and ids of an eighth
// of the collection at most.
package plan
