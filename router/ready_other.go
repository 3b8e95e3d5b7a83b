//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package router

import "syscall"

// isReady cannot tell here. A connection that the node has closed is then found
// out by the request that uses it.
func isReady(syscall.RawConn) bool { return false }

// hasEnded reports whether the other side has ended the connection. It cannot be told
// without reading.
func hasEnded(syscall.RawConn) bool { return false }
