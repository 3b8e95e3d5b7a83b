// Package trace tells an OpenTelemetry collector how long requests took, and what
// for: spans, sent as JSON by OTLP over HTTP (OTLP 1.x, "POST …/v1/traces"), that
// continue the trace of who sent the request (W3C Trace Context).
//
// A [Tracer] begins a [Span] for a request; a span has children. A nil tracer and a
// nil span do nothing, so that code need not ask whether a request is traced. Spans
// that have ended wait in a queue of bounded length. When it is full they are
// dropped and counted: tracing never holds up a request.
package trace
