// Package openapi describes the HTTP surface of a database as an OpenAPI document
// of version 3.1, https://spec.openapis.org/oas/v3.1.0: for each collection the
// routes it has, with its documents as schemas, and the routes that take
// statements.
//
//	body, err := openapi.Document(definitions, openapi.Options{Version: fenec.Version})
//
// The document tells what the collections given are, and of no other. The same
// definitions give the same bytes.
package openapi
