package http1

import (
	"errors"
	"fmt"
)

// Error says why a message cannot be understood. The stream has no known
// position behind it, so the connection ends with the answer.
type Error struct {
	// Status is the answer to a request: 400, 431 or 501. In a response it
	// only tells the kinds of fault apart.
	Status int
	// Text is a short sentence for the client; it quotes nothing from the
	// message.
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("http1: %d: %s", e.Status, e.Text) }

// ErrCutShort is returned when the stream ends inside a head or a body.
var ErrCutShort = errors.New("http1: message cut short")

func malformed(text string) *Error   { return &Error{Status: 400, Text: text} }
func unsupported(text string) *Error { return &Error{Status: 501, Text: text} }

var (
	errHeadTooLarge  = &Error{Status: 431, Text: "header block over 64 KiB"}
	errMethod        = unsupported("unknown method")
	errCoding        = unsupported("unsupported transfer coding")
	errRequestLine   = malformed("malformed request line")
	errTarget        = malformed("malformed request target")
	errStatusLine    = malformed("malformed status line")
	errLineEnd       = malformed("a line must end with CR LF and hold neither elsewhere")
	errFolded        = malformed("folded header line")
	errFieldName     = malformed("malformed header name")
	errFieldValue    = malformed("control character in a header value")
	errLength        = malformed("malformed Content-Length")
	errLengthTwice   = malformed("more than one Content-Length")
	errLengthCoding  = malformed("both Content-Length and Transfer-Encoding")
	errCodingTwice   = malformed("more than one Transfer-Encoding")
	errCodingVersion = malformed("Transfer-Encoding in HTTP/1.0")
	errHostTwice     = malformed("more than one Host")
	errHost          = malformed("malformed Host")
	errNoHost        = malformed("no Host in HTTP/1.1")
	errChunk         = malformed("malformed chunk")
	errTrailer       = malformed("trailers are not accepted")
)
