// Package http1 reads and writes HTTP/1.1 messages on plain byte streams, for
// the fronts of the daemons, which answer a small request in less time than
// net/http needs to parse it, and for the router, which must pass a request on
// byte for byte.
//
// A [Reader] finds the head of the next message in a stream and serves the
// bytes behind it. [Request] and [Response] parse a head in place: their fields
// are slices of the reader's buffer, so a head costs no allocation once the
// values are reused. A [ChunkedReader] takes a chunked body apart. The Append
// functions write heads. A [Server] serves an http.Handler.
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
// A request of HTTP/1.1 without a Host field is refused, and so is any with more
// than one, or with one that is no host and port (RFC 9112, 3.2).
//
// # Limits
//
// A head is at most [MaxHead] bytes. Bodies are not limited by the readers:
// whoever reads one knows its ceiling.
//
// # Server
//
// A Server hands its handler what package net/http would, with these differences:
//
//   - The request, its header and its body, and the http.ResponseWriter are the
//     handler's until it returns, and are used again then. Their texts may be
//     kept. So http.TimeoutHandler, which lets go of a handler that goes on, is
//     not for this server.
//   - What the parsers refuse never reaches the handler: it is answered with a
//     JSON error, and the connection ends.
//   - A percent sign in a path that begins no sequence stands for itself.
//   - A Content-Type is not guessed, and there are no trailers.
//   - A client is watched for its end only for a request whose context has been
//     asked for its own, that has run for 10 milliseconds and whose body is read;
//     not behind more than 4 KiB that follow it unasked.
//   - A handler can take a long stream out of the count of connections: its
//     writer, or what Unwrap leads to, has a method Detach().
//
// An idle connection holds a goroutine and about 5 KiB.
//
// Values of this package but Server are for one goroutine at a time.
package http1
