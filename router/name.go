package router

import (
	"net"
	"strconv"
	"strings"
)

// ValidName reports whether name can be the name of a tenant or a node: 1 to 64
// of the bytes a-z, 0-9, '_' and '-'.
func ValidName[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// validAddr reports whether addr is host:port with a host that can stand in a
// Host header and a port from 1 to 65535.
func validAddr(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return false
	}
	return strings.IndexFunc(host, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".-_:%", c))
	}) < 0
}
