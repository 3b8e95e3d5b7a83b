//go:build cgo

package litedriver

import _ "github.com/mattn/go-sqlite3" // registers the driver "sqlite3"

// With a C compiler at hand the peer is SQLite's own code, the faster of the
// two drivers.
const (
	Description = "mattn/go-sqlite3 (cgo)"
	Name        = "sqlite3"
)
