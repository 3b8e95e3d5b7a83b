// Package rawconn is the client of the benches of HTTP: a kept-alive connection
// that sends prepared requests and reads their answers with next to no work of
// its own, so that what is timed is the server.
package rawconn

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
)

// Conn is a connection. It is for one goroutine at a time.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects to a host and port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// Request returns the bytes of a request that keeps its connection. Fields are
// lines of its head, as in "Authorization: Bearer t". A body of nil is none.
func Request(method, target string, body []byte, fields ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bench\r\n", method, target)
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// Exchange sends one request and reads its whole answer, which must be a 2xx
// with a length.
func (c *Conn) Exchange(request []byte) error {
	length, err := c.head(request)
	if err != nil {
		return err
	}
	_, err = c.in.Discard(length)
	return err
}

// Ask is Exchange and returns the body.
func (c *Conn) Ask(request []byte) ([]byte, error) {
	length, err := c.head(request)
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	_, err = io.ReadFull(c.in, body)
	return body, err
}

// head sends a request and reads up to the body, whose length it returns.
func (c *Conn) head(request []byte) (length int, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	status, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 2")) {
		return 0, fmt.Errorf("answered %q", bytes.TrimSpace(status))
	}
	return c.fields()
}

// fields reads up to the body and returns its length.
func (c *Conn) fields() (int, error) {
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("content-length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("the answer has no length: %w", io.ErrUnexpectedEOF)
	}
	return length, nil
}

// Close closes the connection.
func (c *Conn) Close() { _ = c.conn.Close() }
