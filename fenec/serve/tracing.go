package serve

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/trace"
)

// Tracer sends how long requests took to an OpenTelemetry collector, by OTLP over
// HTTP with JSON. It is safe for concurrent use.
type Tracer struct{ t *trace.Tracer }

// TracerOptions say where traces go.
type TracerOptions struct {
	// Endpoint is the collector's address, such as "http://localhost:4318", to which
	// the path /v1/traces is added; not if Exact is set.
	Endpoint string
	Exact    bool

	// Headers are sent with each post.
	Headers http.Header

	// Sample is the share of traces that begin here that are recorded, from 0 to 1.
	// Those that others began (W3C Trace Context) are recorded if they say so.
	Sample float64
}

// OpenTracer returns a tracer, which Close ends.
func OpenTracer(o TracerOptions) (*Tracer, error) {
	t, err := trace.New(trace.Options{
		Endpoint: o.Endpoint, Exact: o.Exact, Headers: o.Headers, Sample: o.Sample, Version: fenec.Version,
	})
	if err != nil {
		return nil, err
	}
	return &Tracer{t}, nil
}

// Close sends what has not been sent yet.
func (t *Tracer) Close() error { return t.t.Close() }

// beginSpan begins the span of a request that runs statements.
func (c *call) beginSpan() {
	if t := c.server.opts.Tracer; t != nil {
		c.span = t.t.Start(c.operation(), c.r.Header.Get("Traceparent"), c.r.Header.Get("Tracestate"), c.began)
	}
}

// operation names what is asked for, without the names of what it is asked of.
func (c *call) operation() string {
	path := "/" + strings.Join(c.path, "/")
	switch {
	case len(c.path) == 0 || c.at("query") || c.at("batch") || c.at("collections") || c.under("_schema"):
	case len(c.path) == 1:
		path = "/{collection}"
	default:
		path = "/{collection}/" + c.path[1]
	}
	return c.r.Method + " " + path
}

// endSpan ends it with the answer.
func (c *call) endSpan(a *Answer) {
	if c.span == nil {
		return
	}
	host, port, err := net.SplitHostPort(c.r.Host)
	if err != nil {
		host, port = c.r.Host, ""
	}
	peer, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		peer = c.r.RemoteAddr
	}
	shape := string(c.shapeText())
	verb, _, _ := strings.Cut(shape, " ")
	for _, x := range []struct {
		key   string
		value any
	}{
		{"http.request.method", c.r.Method},
		{"http.response.status_code", a.Status},
		{"url.path", c.r.URL.Path},
		{"server.address", host},
		{"server.port", port},
		{"client.address", peer},
		{"db.system", "fenecdb"},
		{"db.operation.name", verb},
		{"db.query.text", shape},
		{"fenec.request_id", requestID(c.w)},
	} {
		c.span.Set(x.key, x.value)
	}
	if c.source.Tenant != "" {
		c.span.Set("fenec.tenant", c.source.Tenant)
	}
	c.span.End(time.Now(), a.Status >= http.StatusInternalServerError)
}
