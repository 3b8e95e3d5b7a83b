package serve

import "net/http"

// cors holds the headers that let pages of other origins use the surface.
type cors struct {
	origin  string
	headers http.Header // for ordinary answers; nil if no origin is allowed
}

func newCORS(origin string) cors {
	if origin == "" {
		return cors{}
	}
	return cors{origin, http.Header{
		"Access-Control-Allow-Origin":   {origin},
		"Access-Control-Allow-Methods":  {"GET, POST, PATCH, PUT, DELETE, OPTIONS"},
		"Access-Control-Allow-Headers":  {"content-type, authorization, idempotency-key, fenec-after, fenec-wait, if-none-match, x-request-id"},
		"Access-Control-Expose-Headers": {"fenec-seq, fenec-next, idempotent-replayed, etag, x-request-id, retry-after"},
		"Access-Control-Max-Age":        {"600"},
		"Vary":                          {"Origin"},
	}}
}

// allow adds the headers to an answer.
func (c *cors) allow(h http.Header) {
	for name, values := range c.headers {
		h[name] = values
	}
}

// allowStream adds those that a stream's head carries.
func (c *cors) allowStream(h http.Header) {
	if c.headers == nil {
		return
	}
	for name := range c.headers {
		delete(h, name)
	}
	h["Access-Control-Allow-Origin"] = c.headers["Access-Control-Allow-Origin"]
	h["Vary"] = c.headers["Vary"]
}

// isPreflight reports whether a request asks whether it may be made, from an
// origin that may.
func (c *cors) isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && c.headers != nil &&
		(c.origin == "*" || r.Header.Get("Origin") == c.origin)
}
