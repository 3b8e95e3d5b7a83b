// Package rest translates the requests of a collection's REST routes into
// statements of the database, and their results into answers.
//
// # Basics
//
// [Translate] takes a [Request] and makes a [Statement] of it: a text, its
// arguments, and what kind of answer is wanted. [Statement.AppendJSON] then makes
// the answer's body of the statement's result. [Follow] makes the shape that a
// subscription follows. Both know the collections through a function [Schemas],
// and touch no database.
//
//	st, err := rest.Translate(schemas, req)
//	if err != nil {
//		return err
//	}
//	res, err := db.Query(ctx, st.Text, st.Args...)
//	if err != nil {
//		return err
//	}
//	body, err := st.AppendJSON(nil, res)
//
// # Guarantees
//
// Nothing of a request becomes text of a statement as it stands. Values are
// arguments. Names are those of collections and fields that there are. Parts in
// the language itself, such as a condition or a list of columns, are parsed, must
// be exactly such a part without parameters, and are printed from their tree. So
// the text always parses, and requests of one form have one text, whatever values
// they bring: the database keeps it compiled. The numbers of limit and offset are
// the exception, as the language has no parameters there.
//
// # Errors
//
// Errors are of the database's kinds: fenec.ErrNotFound for a collection, a field
// or a route that there is not, ErrQuery and ErrType for all else. What only the
// database can tell, such as whether a lookup has its index, is told by the run of
// the statement.
package rest
