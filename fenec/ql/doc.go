// Package ql is the language of the database: it turns the text of statements
// into trees and trees into text. It knows no storage, no types of values and
// of functions only the aggregates; what a statement means is decided by those
// who walk its tree.
//
// # Basics
//
// [Parse] takes exactly one statement, [ParseScript] one or more, and
// [ParseExpr] an expression on its own. A [Statement] is a pointer to one of a
// few structs, [Get] or [Put] for instance, and an [Expr] likewise; both are
// told apart by a type switch. [Walk] visits the expressions of a tree, [Params]
// counts its parameters, [HasAggregate] finds aggregates, and [Print] and
// [PrintExpr] write it as text.
//
//	stmt, err := ql.Parse(`get item where price < $1 order name`)
//	if err != nil {
//		return err // query error: line 1, column …
//	}
//	switch s := stmt.(type) {
//	case *ql.Get:
//		…
//	}
//
// No word of the language is reserved: a collection may be called "get" and a
// field "limit". Keywords match in any case, names only as they are written.
//
// # Guarantees
//
// Printing loses nothing: parsing what Print made of a parsed statement gives
// an equal tree, but for the positions. Numbers are exact. An integer is an
// int64, a decimal the nearest float64, and a list keeps its numbers as they
// are until somebody knows what the list is for.
//
// Any text is safe to parse. What is not a statement gives an [*Error] that
// says where and why. Expressions nest 512 levels deep at most, gets inside "in"
// 4 levels, each with the levels of its own expressions, so that neither the
// parser nor a function that walks a tree by recursion can run out of stack.
// Memory and time grow in proportion to the text, whatever it holds.
//
// All functions may be called concurrently. A parsed tree must not be changed:
// it may share nodes with others.
//
// # Limits
//
// A path has at most 64 keys, a chain of lookups 8 levels, a facet 10001 bounds
// of ranges. A statement names at most 2^20 fields, parameters, calls, columns
// and keys, besides the fields that its documents give values to. Which clauses
// go together is checked as far as the clauses themselves tell: what depends on
// the collections, or on aggregates among the columns, is not. Strings taken from
// a text keep all of the text in memory.
//
// A tree that was not parsed prints as a statement only if the parser could
// have made it: names are identifiers, lists hold constants, floats are finite,
// and no field that stands for a value is called "null", "true" or "false".
package ql
