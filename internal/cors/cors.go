// Package cors lets pages of other origins use a server from a browser, by the headers
// of the Fetch standard ("CORS protocol"). Nodes and routers send the same ones, so that
// a page cannot tell which of them has answered it.
package cors

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// Policy says whose pages are let in. The zero Policy lets nobody in, and sends no
// header. It is safe for concurrent use.
type Policy struct {
	origin        string
	headers       http.Header // of ordinary answers; nil if no origin is allowed
	lines, stream []byte      // the same as header lines, and those that a stream's head carries
}

// allowedOrigin is the header that a browser goes by.
const allowedOrigin = "Access-Control-Allow-Origin"

// New returns the policy for one origin, or for all by "*". "" lets nobody in.
func New(origin string) Policy {
	if origin == "" {
		return Policy{}
	}
	p := Policy{origin: origin, headers: http.Header{
		allowedOrigin:                   {origin},
		"Access-Control-Allow-Methods":  {"GET, POST, PATCH, PUT, DELETE, OPTIONS"},
		"Access-Control-Allow-Headers":  {"content-type, authorization, idempotency-key, fenec-after, fenec-wait, if-none-match, x-request-id"},
		"Access-Control-Expose-Headers": {"fenec-seq, fenec-next, idempotent-replayed, etag, x-request-id, retry-after"},
		"Access-Control-Max-Age":        {"600"},
		"Vary":                          {"Origin"},
	}}
	for _, name := range slices.Sorted(maps.Keys(p.headers)) {
		line := http1.AppendField(nil, name, p.headers[name][0])
		p.lines = append(p.lines, line...)
		if ofStream(name) {
			p.stream = append(p.stream, line...)
		}
	}
	return p
}

// Check returns an error for what is neither an origin nor "*".
func Check(origin string) error {
	if origin == "*" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host {
		return errors.New("want an origin, such as https://books.example, or *")
	}
	return nil
}

// On reports whether anybody is let in.
func (p *Policy) On() bool { return p.headers != nil }

// Header returns the headers of an ordinary answer, nil for none. They must not be
// changed.
func (p *Policy) Header() http.Header { return p.headers }

// Lines returns the headers of an ordinary answer, or of a stream's head, as they stand
// in a head. They must not be changed.
func (p *Policy) Lines(stream bool) []byte {
	if stream {
		return p.stream
	}
	return p.lines
}

// Allow adds the headers to an answer.
func (p *Policy) Allow(h http.Header) { maps.Copy(h, p.headers) }

// Forbid takes them away again, from an answer that is not for pages.
func (p *Policy) Forbid(h http.Header) {
	for name := range p.headers {
		delete(h, name)
	}
}

// AllowStream leaves those that a stream's head carries.
func (p *Policy) AllowStream(h http.Header) {
	for name := range p.headers {
		if !ofStream(name) {
			delete(h, name)
		}
	}
}

func ofStream(name string) bool { return name == allowedOrigin || name == "Vary" }

// IsPreflight reports whether a request asks whether it may be made, from an origin
// that may.
func (p *Policy) IsPreflight(method, origin string) bool {
	return method == http.MethodOptions && p.On() && (p.origin == "*" || origin == p.origin)
}

// Replaces reports whether a field of an answer that is passed on gives way to the
// policy's own: those of the protocol, and a Vary that says no more than the policy's.
func (p *Policy) Replaces(f *http1.Field) bool {
	const prefix = "access-control-"
	switch {
	case !p.On():
		return false
	case len(f.Name) > len(prefix):
		return http1.EqualFold(f.Name[:len(prefix)], prefix)
	}
	return f.Is("vary") && http1.EqualFold(f.Value, "origin")
}
