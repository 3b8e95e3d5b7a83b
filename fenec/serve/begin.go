package serve

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
	"github.com/fenec-go/fenecdb/internal/http1"
)

// Begin does what comes before any route: what the function Begin does, and what
// browsers ask for before a page's request, and of its answer. It reports whether
// the request goes on.
func (s *Server) Begin(w http.ResponseWriter, r *http.Request) bool {
	s.cors.Allow(w.Header())
	if !Begin(w, r) {
		return false
	}
	if r.Method == http.MethodOptions && s.cors.IsPreflight(r.Method, r.Header.Get("Origin")) {
		Answer{Status: http.StatusNoContent}.Write(w, r)
		return false
	}
	return true
}

// CORSHeader returns the headers that let pages of Options.AllowOrigin read an
// answer, nil if there is none: for answers that a server gives before its handler
// is asked. They must not be changed.
func (s *Server) CORSHeader() http.Header { return s.cors.Header() }

// Begin gives the answer its request id and refuses unknown methods. It reports
// whether the request goes on.
func Begin(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	id := r.Header["X-Request-Id"]
	if len(id) != 1 || !http1.UsableID(id[0]) {
		id = []string{http1.NewID()}
	}
	h["X-Request-Id"] = id
	h["X-Content-Type-Options"] = noSniff
	switch r.Method {
	case "GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS":
		return true
	}
	endConnection(w, r)
	Fail(http.StatusNotImplemented, "unknown method "+strconv.Quote(r.Method)).Write(w, r)
	return false
}

// endConnection has the connection end with the answer. One of HTTP/2 has other
// requests on it, and goes on.
func endConnection(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor < 2 {
		w.Header().Set("Connection", "close")
	}
}

var noSniff = []string{"nosniff"}

// requestID returns the id that Begin gave the answer.
func requestID(w http.ResponseWriter) string {
	if id := w.Header()["X-Request-Id"]; len(id) == 1 {
		return id[0]
	}
	return ""
}

// Segments returns the non-empty pieces of a path, decoded one by one, so that
// an encoded slash stays within its piece.
func Segments(u *url.URL) []string { return target.Segments(u.EscapedPath()) }

// health answers a request for the health of the server, and reports whether it is
// one.
func (s *Server) health(w http.ResponseWriter, r *http.Request, path []string) bool {
	if len(path) != 1 || path[0] != "_health" || !reads(r.Method) {
		return false
	}
	s.cors.Forbid(w.Header())
	Health().Write(w, r)
	return true
}

// Health answers that the server is up.
func Health() Answer { return OK(healthy) }

var healthy = []byte(`{"ok":true}`)

// reads reports whether a method asks for something that is there.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }
