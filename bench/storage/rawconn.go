package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
)

// rawConn is a kept-alive connection that sends prepared requests and reads
// their answers with next to no work of its own, so that what is timed is the
// server.
type rawConn struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialRaw(ctx context.Context, addr string) (*rawConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &rawConn{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// request returns the bytes of a request that keeps its connection.
func request(method, target, token string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bench\r\n", method, target)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// exchange sends one request and reads its whole answer, which must be a 200
// with a length.
func (c *rawConn) exchange(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	status, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("answered %q", bytes.TrimSpace(status))
	}
	length, err := c.readHeaders()
	if err != nil {
		return err
	}
	_, err = c.in.Discard(length)
	return err
}

// readHeaders reads up to the body and returns its length.
func (c *rawConn) readHeaders() (int, error) {
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

func (c *rawConn) close() { _ = c.conn.Close() }
