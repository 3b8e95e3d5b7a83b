// Package metrics counts what a server does and writes it in the text format of
// Prometheus (version 0.0.4).
//
// A [Histogram] counts durations and a [Statements] statements, without a lock; a
// [Shapes] keeps what statements of one shape cost. A [Page] writes families of samples,
// each with its help and type.
package metrics

// ContentType is that of a page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"
