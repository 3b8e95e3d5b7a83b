// Package serve gives a database its HTTP surface, as an http.Handler that any
// server can mount.
//
//	GET  /             version and collection names
//	GET  /collections  schemas
//	POST /query        one statement: {"query": "…", "params": […]}
//	POST /batch        statements, one such object a line, all or nothing
//	GET  /_health      {"ok":true}, without a token
//
// Answers are one line of JSON. Errors are {"error": "…"} with the status that
// says their kind; see StatusOf. Writes answer with their sequence in the header
// Fenec-Seq, reads never do. With Options.Token every route but /_health wants
// "Authorization: Bearer <token>".
//
// A handler holds nothing of its own. Who serves many databases, as a node with
// a directory of tenants does, uses its parts: ReadRequest takes a request in,
// Do answers it from a database, and Answer.Write sends it, by when the database
// may have been let go.
package serve
