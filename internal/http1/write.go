package http1

import (
	"net/http"
	"strconv"
)

// AppendRequestLine appends the first line of a request.
func AppendRequestLine(dst []byte, m Method, target []byte) []byte {
	dst = append(dst, m.String()...)
	dst = append(dst, ' ')
	dst = append(dst, target...)
	return append(dst, " HTTP/1.1\r\n"...)
}

// AppendStatusLine appends the first line of a response. A nil reason is the
// usual text of the status.
func AppendStatusLine(dst []byte, status int, reason []byte) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, ' ')
	if reason == nil {
		dst = append(dst, http.StatusText(status)...)
	} else {
		dst = append(dst, reason...)
	}
	return append(dst, "\r\n"...)
}

// AppendField appends a header line. The caller vouches for its parts: text from
// outside must have been parsed as a field before.
func AppendField[N, V []byte | string](dst []byte, name N, value V) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// AppendLength appends the Content-Length field.
func AppendLength(dst []byte, n int64) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, "\r\n"...)
}

// AppendEnd appends the blank line that ends a head.
func AppendEnd(dst []byte) []byte { return append(dst, "\r\n"...) }

// AppendChunk appends one chunk. An empty one is the last of its message, so data
// must not be empty before that.
func AppendChunk(dst, data []byte) []byte {
	dst = strconv.AppendInt(dst, int64(len(data)), 16)
	dst = append(dst, "\r\n"...)
	dst = append(dst, data...)
	return append(dst, "\r\n"...)
}
