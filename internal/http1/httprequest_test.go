package http1_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// script is a connection on which everything has been sent already.
type script struct {
	io.Reader
	written bytes.Buffer
	closed  chan struct{}
}

func (s *script) Write(p []byte) (int, error)      { return s.written.Write(p) }
func (s *script) Close() error                     { close(s.closed); return nil }
func (s *script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *script) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// play serves what is on a connection and returns the requests that the handler
// saw, bodies included.
func play(raw []byte) (seen []seenRequest, answers string) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen = append(seen, look(r)) })
	s := http1.NewServer(h, http1.ServerOptions{ErrorLog: log.New(io.Discard, "", 0)})
	conn := &script{Reader: bytes.NewReader(raw), closed: make(chan struct{})}
	l := newPipes()
	go s.Serve(l)
	l.conns <- conn
	<-conn.closed
	s.Close()
	return seen, conn.written.String()
}

// seenRequest is what a handler may look at.
type seenRequest struct {
	Method, Proto, RequestURI, Host, Remote string
	Major, Minor                            int
	URL                                     url.URL
	Header                                  http.Header
	Length                                  int64
	Coding                                  []string
	Close                                   bool
	Body                                    string
	Err                                     bool // the body has no good end
}

func look(r *http.Request) seenRequest {
	body, err := io.ReadAll(r.Body)
	return seenRequest{
		r.Method, r.Proto, r.RequestURI, r.Host, r.RemoteAddr, r.ProtoMajor, r.ProtoMinor, *r.URL,
		r.Header.Clone(), r.ContentLength, append([]string(nil), r.TransferEncoding...), r.Close, string(body), err != nil,
	}
}

// A handler sees of a request what net/http would show it.
func TestRequestIsThatOfNetHTTP(t *testing.T) {
	for _, raw := range []string{
		"GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n",
		"GET /a/b?c=d;e&f=%zz&g=+ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a? HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a?? HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET //a//b/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /%41%2F%20b HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a(b)!*' HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /\xc3\xa4?\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://b.example/a?b HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://b.example HTTP/1.1\r\nHost: x\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"GET / HTTP/1.1\r\nhost: x\r\naccept: a\r\nAccept: b\r\nx-ONE: 1\r\nX-Empty:\r\naccept: c\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
	} {
		t.Run(raw, func(t *testing.T) {
			require.NotZero(t, compare(t, []byte(raw)), "it was refused")
		})
	}
}

// compare plays raw, compares each request with the one net/http finds at the
// same place, and returns how many there were.
func compare(t *testing.T, raw []byte) int {
	seen, _ := play(raw)
	r := bufio.NewReader(bytes.NewReader(raw))
	for i, got := range seen {
		q, err := http.ReadRequest(r)
		if err != nil && strings.Contains(err.Error(), "invalid URL escape") {
			return i
		}
		require.NoError(t, err, "request %d is none for net/http", i)
		want := look(q)
		want.Remote = "192.0.2.1:7"
		if want.Header.Get("Pragma") == "no-cache" {
			// What net/http reads into it is nothing the client said.
			want.Header["Cache-Control"], got.Header["Cache-Control"] = nil, nil
		}
		if want.Err || got.Err {
			require.Equal(t, want.Err, got.Err)
			want.Body, got.Body = "", ""
		}
		require.Equal(t, want, got, "request %d", i)
	}
	return len(seen)
}

// What the server takes for requests, net/http takes for the same ones, at the
// same places.
func FuzzServerAgainstNetHTTP(f *testing.F) {
	for _, s := range []string{
		"GET /a?b HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\nGET /b HTTP/1.0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcPUT /%zz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://a/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { compare(t, raw) })
}

// A request is the handler's alone: nothing of the one before shows.
func TestNothingIsLeftOfTheRequestBefore(t *testing.T) {
	var big strings.Builder
	for i := range 200 {
		fmt.Fprintf(&big, "X-%d: %d\r\n", i, i)
	}
	raw := "POST /a?b HTTP/1.1\r\nHost: x\r\nSecret: s\r\n" + big.String() + "Content-Length: 2\r\n\r\nhiGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
	seen, answers := play([]byte(raw))
	require.Len(t, seen, 2)
	require.Len(t, seen[0].Header, 202)
	require.Len(t, seen[1].Header, 1)
	require.Equal(t, url.URL{Path: "/"}, seen[1].URL)
	require.Empty(t, seen[1].Host+seen[1].Body)
	require.Equal(t, "200 200", statuses(replies(t, answers)))
}
