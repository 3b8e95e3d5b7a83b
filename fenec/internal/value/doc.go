// Package value holds the values a database stores and computes with, and the
// types that fields are declared with.
//
// A [Value] is null, a bool, an int, a float, a timestamp, a text, bytes, a
// vector of float32s, sparse or not, a list or an object. It is made by a
// constructor of its kind, by [FromGo] from what a caller hands in, by
// [ParseJSON] or by [Decode], and is never changed afterwards. Numbers that come
// from a literal or from JSON stay exact, in a list too, until [Coerce] fits them
// to the [Type] of the field that receives them. A point on the globe is a list
// of two floats, its longitude and its latitude.
//
// The package decides four things for the layers above it:
//
//   - order: [Compare] is the order of every comparison, sort and index, or
//     [CompareCollated] where texts are sorted as people do;
//   - fit: [Coerce] says what a field of a type takes, and turns it into what
//     the field stores;
//   - arithmetic: [Add], [Sub], [Mul], [Div] and [Neg];
//   - form: [AppendJSON] writes answers, and [Append] the bytes a json field or
//     a list is stored as, which [Lookup] reads one member of without decoding
//     the rest.
//
// Errors are of package fault: fault.Type for a value of the wrong type,
// fault.Query for a computation without a result and for JSON that cannot be
// read. Stored bytes that cannot be read give [ErrCorrupt].
//
// Values may be shared between goroutines. They may not be compared with ==,
// nor with reflect.DeepEqual, which would compare where they lie in memory; use
// [Equal], or [Identical] where 3 and 3.0 must differ.
package value
