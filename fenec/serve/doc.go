// Package serve gives a database its HTTP surface, as an http.Handler that any
// server can mount.
//
//	GET  /                   version and collection names
//	GET  /collections        schemas
//	     /<collection>       rows by filters: GET, POST, PATCH, DELETE
//	POST /<collection>/near  the rows nearest to a vector
//	GET  /<collection>/changes  server-sent events: what a filter picks, and its changes
//	POST /query              one statement: {"query": "…", "params": […]}
//	POST /batch              statements, one such object a line, all or nothing
//	     /_changes           every write, for those who follow the whole database
//	     /_schema            the schema as a description: compare, apply
//	GET  /_openapi.json      what there is to call, as an OpenAPI document
//	GET  /_whoami            what the server takes the sender for
//	GET  /_metrics           figures, in the text format of Prometheus
//	     /_stats/statements  what each shape of statement cost
//	GET  /_health            {"ok":true}, without a token
//
// docs/http.md is their reference, docs/security.md says what tokens open. Answers
// are one line of JSON. Errors are {"error": "…"} with the status that says their
// kind; see StatusOf. Writes answer with their sequence in the header Fenec-Seq,
// reads never do.
//
// Handler serves one database. Who serves many, as a node with a directory of
// tenants does, calls Serve with the Source of the one that a request is for: it is
// opened once the request has been let in and taken in, and let go before its answer
// is written, but for answers that are long and for streams.
package serve
