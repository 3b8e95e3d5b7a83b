package serve

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// Begin does what comes before any route: it gives the answer its request id
// and refuses unknown methods. It reports whether the request goes on.
func Begin(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	id := r.Header["X-Request-Id"]
	if len(id) != 1 || !usableID(id[0]) {
		id = []string{newID()}
	}
	h["X-Request-Id"] = id
	h["X-Content-Type-Options"] = noSniff
	switch r.Method {
	case "GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS":
		return true
	}
	h.Set("Connection", "close")
	Fail(http.StatusNotImplemented, "unknown method "+strconv.Quote(r.Method)).Write(w, r)
	return false
}

var noSniff = []string{"nosniff"}

// requestID returns the id that Begin gave the answer.
func requestID(w http.ResponseWriter) string {
	if id := w.Header()["X-Request-Id"]; len(id) == 1 {
		return id[0]
	}
	return ""
}

// usableID reports whether a client's request id can be kept: 1 to 128 bytes
// of printable ASCII.
func usableID(id string) bool {
	if len(id) < 1 || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		if id[i] < 0x20 || id[i] > 0x7e {
			return false
		}
	}
	return true
}

func newID() string {
	var raw [8]byte
	var digits [16]byte
	binary.LittleEndian.PutUint64(raw[:], rand.Uint64())
	hex.Encode(digits[:], raw[:])
	return string(digits[:])
}

// Segments returns the non-empty pieces of a path, decoded one by one, so that
// an encoded slash stays within its piece.
func Segments(u *url.URL) []string { return target.Segments(u.EscapedPath()) }

// IsHealth reports whether a request asks for the health of the server.
func IsHealth(r *http.Request, segments []string) bool {
	return len(segments) == 1 && segments[0] == "_health" && reads(r.Method)
}

// reads reports whether a method asks for something that is there.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// Health answers that the server is up.
func Health() Answer { return OK(healthy) }

var healthy = []byte(`{"ok":true}`)
