// Package http1 reads and writes HTTP/1.1 messages on plain byte streams, for
// the fronts of the daemons, which answer a small request in less time than
// net/http needs to parse it, and for the router, which must pass a request on
// byte for byte.
//
// A [Reader] finds the head of the next message in a stream and serves the
// bytes behind it. [Request] and [Response] parse a head in place: their fields
// are slices of the reader's buffer, so a head costs no allocation once the
// values are reused. A [ChunkedReader] takes a chunked body apart. The Append
// functions write heads.
//
// # Strictness
//
// Two parties that disagree on where a message ends can be made to disagree on
// who sent what. So nothing is repaired: a line ends with CR LF and holds
// neither elsewhere, a name is a token and touches its colon, a folded line, a
// second Content-Length, a Content-Length beside a Transfer-Encoding and a
// transfer coding other than chunked are errors, and so are trailers. What a
// parser refuses is an *[Error] whose Status is the answer to give before the
// connection is closed.
//
// A request without a Host field is accepted, as tools that speak raw HTTP often
// leave it out and nothing here routes by it. More than one is refused.
//
// # Limits
//
// A head is at most [MaxHead] bytes. Bodies are not limited here: whoever reads
// one knows its ceiling.
//
// Values of this package are for one goroutine at a time.
package http1
