// Package descr reads and writes schemas as descriptions, and says what would
// turn the schema of a database into a described one.
//
// # Basics
//
// A [Schema] is a set of definitions apart from any database. [Of] makes one of a
// database's definitions; [Schema.AppendJSON] and [Schema.AppendText] write it in
// the two forms that a description has:
//
//	{"format":1,"collections":[{"name":"todos","fields":[
//		{"name":"title","type":"text","required":true},
//		{"name":"done","type":"bool","index":{"kind":"hash"}}]}]}
//	{"format":1,"fenecql":"create collection todos (title text required, done bool @hash)"}
//
// [Read] reads either form into a [Description], which may bring migrations too:
// statements that run once, in order, before the schemas are compared.
//
// [Description.Plan] compares. What can be had by adding becomes a statement: a
// collection, a field, an index. What cannot is a [Refusal], which says why and
// what to do. [Description.Follow] asks less: only whether all that is described is
// there, for a program that changes nothing.
//
// # Guarantees
//
// A plan without refusals, carried out on the schema it was made for, leads to a
// schema that the same description is compared with and found the same. A schema
// written in either form and read again is compared with itself and found the
// same. No text of a description becomes part of a statement unless it parses as
// what it is taken for. Collections whose names begin with an underscore are the
// server's own: they are neither described nor compared.
//
// # Errors
//
// What is wrong with a description is an error of kind fault.Query that says where,
// whatever the kind of its cause.
package descr
