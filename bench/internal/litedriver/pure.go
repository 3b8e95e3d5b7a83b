//go:build !cgo

package litedriver

import _ "modernc.org/sqlite" // registers the driver "sqlite"

// Without a C compiler the peer is SQLite translated to Go.
const (
	Description = "modernc.org/sqlite (pure Go)"
	Name        = "sqlite"
)
