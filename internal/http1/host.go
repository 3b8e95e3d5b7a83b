package http1

import "bytes"

// maxPort is the largest port.
const maxPort = 1<<16 - 1

// validHost reports whether a Host is one: a name or an address, with a port or without
// (RFC 9110, 7.2). It may be empty, as that of a target without a host is.
func validHost(value []byte) bool {
	if bytes.ContainsAny(value, " \t/?#@\\") {
		return false
	}
	rest := value
	if len(value) > 0 && value[0] == '[' {
		end := bytes.IndexByte(value, ']')
		if end < 0 {
			return false
		}
		if rest = value[end+1:]; len(rest) > 0 && rest[0] != ':' {
			return false
		}
	}
	_, port, _ := bytes.Cut(rest, colon)
	return validPort(port)
}

var colon = []byte{':'}

// validPort reports whether a port is none, or a number that is one.
func validPort(port []byte) bool {
	n := 0
	for _, c := range port {
		if c < '0' || c > '9' {
			return false
		}
		if n = 10*n + int(c-'0'); n > maxPort {
			return false
		}
	}
	return true
}
