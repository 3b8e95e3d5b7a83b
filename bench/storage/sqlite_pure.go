//go:build !cgo

package main

import _ "modernc.org/sqlite" // registers the driver "sqlite"

// Without a C compiler the peer is SQLite translated to Go.
const (
	sqliteDriver = "modernc.org/sqlite (pure Go)"
	sqliteName   = "sqlite"
)
