package serve

import (
	"net"
	"net/http"
	"strings"

	"github.com/fenec-go/fenecdb/internal/secret"
)

// forwarded returns the client's address that a router names in a request which it has
// forwarded: "Fenec-Router: <address> <mark>". From anybody who does not know
// Options.RouterToken the header means nothing.
func (s *Server) forwarded(r *http.Request) (client string, ok bool) {
	value := r.Header.Get("Fenec-Router")
	if value == "" {
		return "", false
	}
	client, mark, _ := strings.Cut(value, " ")
	return client, secret.Marks(s.opts.RouterToken, mark)
}

// from returns who has sent a request: the client, and the router that has forwarded it,
// "" if none has.
func (s *Server) from(r *http.Request) (peer, via string) {
	client, ok := s.forwarded(r)
	if !ok {
		return r.RemoteAddr, ""
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return client, host
	}
	return client, r.RemoteAddr
}
