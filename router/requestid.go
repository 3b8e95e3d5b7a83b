package router

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
)

const (
	maxRequestID  = 128
	madeRequestID = 16
)

// usableID reports whether a client's request id is kept: 1 to 128 bytes of
// printable ASCII.
func usableID(id []byte) bool {
	if len(id) == 0 || len(id) > maxRequestID {
		return false
	}
	for _, c := range id {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// appendID appends the request id made of a random number: 16 lower-case
// hexadecimal digits. It tells requests apart and is no secret.
func appendID(dst []byte, random uint64) []byte {
	var b [madeRequestID / 2]byte
	binary.BigEndian.PutUint64(b[:], random)
	return hex.AppendEncode(dst, b[:])
}

// requestID returns the id of an HTTP request, kept or made.
func requestID(r *http.Request) []byte {
	if id := []byte(r.Header.Get("X-Request-Id")); usableID(id) {
		return id
	}
	return appendID(nil, rand.Uint64())
}
