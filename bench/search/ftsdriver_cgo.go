//go:build cgo && sqlite_fts5

package main

import "github.com/fenec-go/fenecdb/bench/internal/litedriver"

// With a C compiler and the tag that puts FTS5 into it, the peer is SQLite's own
// code.
const (
	ftsDescription = litedriver.Description
	ftsDriver      = litedriver.Name
)
