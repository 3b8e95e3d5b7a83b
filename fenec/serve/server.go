package serve

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"log"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// Options say who may use the surface.
type Options struct {
	// Token is what requests must carry. Empty lets everybody in.
	Token Secret

	// ErrorLog is told in full what went wrong on our side, with the request's
	// id. nil is the standard logger of package log.
	ErrorLog *log.Logger
}

// Secret is a token that never shows in logs or messages.
type Secret string

// String hides the token.
func (s Secret) String() string { return "[redacted]" }

// GoString hides the token.
func (s Secret) GoString() string { return "[redacted]" }

// MarshalText hides the token.
func (s Secret) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// Opens reports whether a request with these headers carries the secret, in
// time that does not depend on how much of it is right. An empty secret is
// carried by none.
func (s Secret) Opens(h http.Header) bool {
	got, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return ok && s != "" && subtle.ConstantTimeCompare([]byte(got), []byte(s)) == 1
}

// Server answers requests. It is safe for concurrent use.
type Server struct{ opts Options }

// New returns a server.
func New(opts Options) *Server { return &Server{opts} }

// Handler returns the surface of db.
func (s *Server) Handler(db *fenec.DB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Begin(w, r) {
			return
		}
		segments := Segments(r.URL)
		if IsHealth(r, segments) {
			Health().Write(w, r)
			return
		}
		if !s.Authorized(w, r) {
			return
		}
		if req, ok := ReadRequest(w, r, segments); ok {
			s.Send(w, r, Do(r.Context(), db, req))
		}
	})
}

// Send logs what went wrong on our side and writes the answer.
func (s *Server) Send(w http.ResponseWriter, r *http.Request, a Answer) {
	if a.Err != nil {
		logger := s.opts.ErrorLog
		if logger == nil {
			logger = log.Default()
		}
		logger.Printf("%s %s: %v request_id=%s", r.Method, r.URL.Path, a.Err, w.Header().Get("X-Request-Id"))
	}
	a.Write(w, r)
}

// Authorized reports whether the request may go on, and answers it with 401 if
// not.
func (s *Server) Authorized(w http.ResponseWriter, r *http.Request) bool {
	if s.opts.Token == "" || s.opts.Token.Opens(r.Header) {
		return true
	}
	Unauthorized().Write(w, r)
	return false
}

// Begin does what comes before any route: it gives the answer its request id
// and refuses unknown methods. It reports whether the request goes on.
func Begin(w http.ResponseWriter, r *http.Request) bool {
	id := r.Header.Get("X-Request-Id")
	if !usableID(id) {
		id = newID()
	}
	w.Header().Set("X-Request-Id", id)
	switch r.Method {
	case "GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS":
		return true
	}
	w.Header().Set("Connection", "close")
	Fail(http.StatusNotImplemented, "unknown method "+strconv.Quote(r.Method)).Write(w, r)
	return false
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
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Segments returns the non-empty pieces of a path, decoded one by one, so that
// an encoded slash stays within its piece.
func Segments(u *url.URL) []string {
	var segments []string
	for piece := range strings.SplitSeq(u.EscapedPath(), "/") {
		if piece == "" {
			continue
		}
		if decoded, err := url.PathUnescape(strings.ReplaceAll(piece, "+", " ")); err == nil {
			piece = decoded
		}
		segments = append(segments, piece)
	}
	return segments
}

// IsHealth reports whether a request asks for the health of the server.
func IsHealth(r *http.Request, segments []string) bool {
	return len(segments) == 1 && segments[0] == "_health" &&
		(r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// Health answers that the server is up.
func Health() Answer { return OK(healthy) }

var healthy = []byte(`{"ok":true}`)
