//go:build !cgo || !sqlite_fts5

package main

import _ "modernc.org/sqlite" // registers the driver "sqlite"

// SQLite translated to Go always has FTS5.
const (
	ftsDescription = "modernc.org/sqlite (pure Go)"
	ftsDriver      = "sqlite"
)
