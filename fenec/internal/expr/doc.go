// Package expr compiles expressions of the language and evaluates them over
// encoded rows.
//
// A [Compiler] turns the expressions of one statement on one collection into
// [Expr]s. These are immutable and shared by all runs of the statement. What a
// run has of its own, the parameters, the clock and the row it stands at, is in
// a [Frame].
//
// Evaluation decodes the fields it touches and no others, and is lazy: the
// right side of and and or, the branches of case, the arguments of coalesce and
// the items of a list after in are evaluated only when they are reached. An
// error of a part surfaces only then; the exceptions are those that the text
// alone shows, such as an unknown function, which [Compiler.Compile] returns.
//
// What needs no row is computed once: with literals only, when it is compiled,
// and with parameters or now(), when a run first reaches it.
//
// Errors are of package fault, in the kinds of the language; a damaged row gives
// row.ErrCorrupt. Texts and bytes of a result may lie in the row's memory, which
// is the caller's to keep or to [value.Clone] from.
package expr
