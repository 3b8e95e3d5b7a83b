package router_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

// recorder is a node that keeps the heads and bodies it got.
type recorder struct {
	mu     sync.Mutex
	heads  []string
	bodies []string
}

func (r *recorder) handle(c *rawConn, _ int) {
	for {
		head, body, err := c.request()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.heads, r.bodies = append(r.heads, head), append(r.bodies, body)
		r.mu.Unlock()
		c.reply(ok)
	}
}

func (r *recorder) last() (head, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads[len(r.heads)-1], r.bodies[len(r.bodies)-1]
}

func TestForwardedHead(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	rec := &recorder{}
	addr := rawNode(t, rec.handle)
	g.place("n1", addr, "acme")
	c := g.dial()
	c.write("POST /t/acme/n%6Ftes?a=1&a=2&b=%2F+ HTTP/1.1\r\n" +
		"Host: api.example\r\n" +
		"X-second: 2\r\n" +
		"authorization: Bearer jwt\r\n" +
		"Connection: x-a, close\r\n" +
		"X-A: hop\r\n" +
		"Upgrade: websocket\r\n" +
		"TE: trailers\r\n" +
		"Keep-Alive: timeout=5\r\n" +
		"Proxy-Authorization: Basic x\r\n" +
		"Fenec-Router: 10.0.0.1 forged\r\n" +
		"X-Request-Id: order-17\r\n" +
		"X-first:  spaced  \r\n" +
		"Idempotency-Key: k1\r\n" +
		"Content-Length: 5\r\n" +
		"\r\nhello")
	resp, _ := c.answer("POST")
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, []string{"order-17"}, resp.Header.Values("X-Request-Id"))

	head, body := rec.last()
	require.Equal(t, "hello", body)
	lines := strings.Split(head, "\r\n")
	require.Equal(t, []string{
		"POST /t/acme/n%6Ftes?a=1&a=2&b=%2F+ HTTP/1.1",
		"Host: " + addr,
		"X-second: 2",
		"authorization: Bearer jwt",
		"X-first: spaced",
		"Idempotency-Key: k1",
		"Content-Length: 5",
		"Connection: keep-alive",
		"X-Request-Id: order-17",
	}, lines[:9])
	require.Regexp(t, `^Fenec-Router: 127\.0\.0\.1 [A-Za-z0-9_-]{43}$`, lines[9])
	require.Equal(t, []string{"", ""}, lines[10:])
}

func TestForwardedThroughHandler(t *testing.T) {
	g := startRouter(t, httpFace, router.Options{})
	rec := &recorder{}
	g.place("n1", rawNode(t, rec.handle), "acme")
	status, head, _ := g.callHead("POST", "//t/acme/n%6Ftes?a=1&a=2&b=%2F+", "hello",
		"Upgrade: x", "Te: trailers", "X-A: hop", "Connection: x-a", "B: 2", "A: 1", "X-Request-Id: order-17")
	require.Equal(t, 200, status)
	require.Equal(t, []string{"order-17"}, head.Values("X-Request-Id"))
	got, body := rec.last()
	require.Equal(t, "hello", body)
	require.True(t, strings.HasPrefix(got, "POST //t/acme/n%6Ftes?a=1&a=2&b=%2F+ HTTP/1.1\r\n"), got)
	require.Contains(t, got, "\r\nA: 1\r\nB: 2\r\nContent-Length: 5\r\nConnection: keep-alive\r\n")
	for _, gone := range []string{"Upgrade", "Te:", "X-A"} {
		require.NotContains(t, got, gone)
	}
}

func TestNoLengthWithoutABody(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		g.call("GET", "/t/acme/x", "")
		head, _ := rec.last()
		require.NotContains(t, head, "Content-Length")
		g.call("POST", "/t/acme/x", "", "Content-Length: 0")
		head, _ = rec.last()
		require.Contains(t, head, "Content-Length: 0\r\n")
	})
}

func TestAnswerHead(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		g.place("n1", rawNode(t, func(c *rawConn, _ int) {
			if _, _, err := c.request(); err != nil {
				return
			}
			c.reply("HTTP/1.1 201 Made\r\nX-B: 2\r\nConnection: x-hop, close\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n" +
				"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Request-Id: of-the-node\r\nContent-Length: 2\r\n\r\n{}")
		}), "acme")
		c := g.dial()
		c.send("GET", "/t/acme/x", "", "X-Request-Id: mine")
		resp, body := c.answer("GET")
		require.Equal(t, 201, resp.StatusCode)
		require.Equal(t, "{}", body)
		require.Equal(t, []string{"mine"}, resp.Header.Values("X-Request-Id"))
		require.Equal(t, []string{"a=1", "b=2"}, resp.Header.Values("Set-Cookie"))
		require.Equal(t, "2", resp.Header.Get("X-B"))
		for _, gone := range []string{"X-Hop", "Keep-Alive"} {
			require.Empty(t, resp.Header.Get(gone))
		}
		require.False(t, resp.Close, "the node's closing is not the client's")
	})
}

func TestBodilessAnswers(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		answers := map[string]string{
			"HEAD /t/acme/length":  "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n",
			"HEAD /t/acme/chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			"DELETE /t/acme/x":     "HTTP/1.1 204 No Content\r\n\r\n",
			"GET /t/acme/same":     "HTTP/1.1 304 Not Modified\r\nContent-Length: 42\r\nEtag: \"1\"\r\n\r\n",
		}
		var conns atomic.Int32
		g.place("n1", rawNode(t, func(c *rawConn, number int) {
			conns.Store(int32(number))
			for {
				head, _, err := c.request()
				if err != nil {
					return
				}
				line, _, _ := strings.Cut(head, " HTTP/1.1")
				c.reply(answers[line])
			}
		}), "acme")
		c := g.dial()
		for _, want := range []struct {
			line   string
			status int
			length int64
		}{
			{"HEAD /t/acme/length", 200, 42},
			{"HEAD /t/acme/chunked", 200, -1},
			{"DELETE /t/acme/x", 204, -1},
			{"GET /t/acme/same", 304, 42},
		} {
			method, target, _ := strings.Cut(want.line, " ")
			c.send(method, target, "")
			resp, body := c.answer(method)
			require.Equal(t, want.status, resp.StatusCode, want.line)
			require.Empty(t, body)
			length := ""
			if want.length >= 0 && (f == ownFace || want.status != 304) { // net/http leaves it out there
				length = fmt.Sprint(want.length)
			}
			require.Equal(t, length, resp.Header.Get("Content-Length"), want.line)
			require.False(t, resp.Close, want.line)
		}
		require.EqualValues(t, 1, conns.Load(), "the connections are kept")
	})
}

func TestInterimAnswersAreSkipped(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		c.request()
		c.reply("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok)
	}), "acme")
	status, body := g.call("GET", "/t/acme/x", "")
	require.Equal(t, 200, status)
	require.Equal(t, "{}", body)
}

func TestRequestIDs(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		for _, c := range []struct {
			name, given string
			kept        bool
		}{
			{"kept", "order-17", true},
			{"as long as may be", strings.Repeat("x", 128), true},
			{"blanks inside", "a b", true},
			{"too long", strings.Repeat("x", 200), false},
			{"not ASCII", "\xc3\xa4", false},
			{"empty", "", false},
		} {
			for _, target := range []string{"/t/acme/x", "/t/nobody/x", "/_health"} {
				_, head, _ := g.callHead("GET", target, "", "X-Request-Id: "+c.given)
				ids := head.Values("X-Request-Id")
				require.Len(t, ids, 1, c.name)
				if c.kept {
					require.Equal(t, c.given, ids[0])
				} else {
					require.Regexp(t, "^[0-9a-f]{16}$", ids[0], c.name)
				}
				if target == "/t/acme/x" {
					got, _ := rec.last()
					require.Contains(t, got, "\r\nX-Request-Id: "+ids[0]+"\r\n")
					require.Equal(t, 1, strings.Count(got, "X-Request-Id"))
				}
			}
		}
	})
}

func TestPipelined(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", newNode(t).addr(), "acme")
	c := g.dial()
	c.write("GET /t/acme/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /_health HTTP/1.1\r\nHost: x\r\n\r\n" +
		"POST /t/acme/2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /t/acme/3 HTTP/1.1\r\nHost: x\r\n\r\n")
	for _, want := range []string{"GET /t/acme/1", "", "POST /t/acme/2", "GET /t/acme/3"} {
		resp, _ := c.answer("GET")
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, want, resp.Header.Get("X-Got"))
		require.Equal(t, "keep-alive", resp.Header.Get("Connection"))
	}
}

func TestConnectionHandling(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", newNode(t).addr(), "acme")
	for _, c := range []struct {
		head string
		ends bool
	}{
		{"GET /t/acme/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", true},
		{"GET /t/acme/x HTTP/1.0\r\n\r\n", true},
		{"GET /t/acme/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
		{"GET /_health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", true},
		{"GET /t/nobody/x HTTP/1.1\r\nHost: x\r\n\r\n", false},
		{"POST /t/nobody/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", false},
		{"POST /t/nobody/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", true},
		{"POST /t/nobody/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", true},
	} {
		conn := g.dial()
		conn.write(c.head)
		resp, _ := conn.answer("GET")
		require.Equal(t, c.ends, resp.Close, c.head)
		if c.ends {
			conn.ended()
			continue
		}
		require.Equal(t, "keep-alive", resp.Header.Get("Connection"), c.head)
		conn.send("GET", "/_health", "")
		resp, _ = conn.answer("GET")
		require.Equal(t, 200, resp.StatusCode, c.head)
	}
}

func TestMalformedRequests(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	rec := &recorder{}
	g.place("n1", rawNode(t, rec.handle), "acme")
	for _, c := range []struct {
		name, text string
		status     int
	}{
		{"70 KiB of header", "GET /t/acme/x HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n", 431},
		{"unknown method", "BREW /t/acme/x HTTP/1.1\r\nHost: x\r\n\r\n", 501},
		{"request line", "GET /t/acme/x\r\n\r\n", 400},
		{"no host", "GET /t/acme/x HTTP/1.1\r\n\r\n", 400},
		{"host with a wrong port", "GET /t/acme/x HTTP/1.1\r\nHost: x:y\r\n\r\n", 400},
		{"header line", "GET /t/acme/x HTTP/1.1\r\nHost: x\r\nbad\r\n\r\n", 400},
		{"folded line", "GET /t/acme/x HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400},
		{"bare LF", "GET /t/acme/x HTTP/1.1\nA: b\n\n", 400},
		{"length", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400},
		{"two lengths", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
		{"length and chunks", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"other coding", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		{"chunk", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400},
		{"trailer", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := g.dial()
			// The answer may come before everything is written.
			go io.WriteString(conn, c.text)
			resp, body := conn.answer("GET")
			require.Equal(t, c.status, resp.StatusCode, body)
			require.True(t, resp.Close)
			require.Regexp(t, "^[0-9a-f]{16}$", resp.Header.Get("X-Request-Id"))
			require.Contains(t, body, `{"error":"`)
			conn.ended()
		})
	}
	require.Empty(t, rec.heads, "none reaches the node")
}

func TestCutShort(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", rawNode(t, func(*rawConn, int) { panic("asked") }), "acme")
	for name, text := range map[string]string{
		"header":  "GET /t/acme/x HT",
		"body":    "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
		"chunk":   "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"skipped": "POST /t/nobody/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
	} {
		t.Run(name, func(t *testing.T) {
			c := g.dial()
			c.write(text)
			require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
			resp, _ := c.answer("GET")
			require.Equal(t, 400, resp.StatusCode)
			c.ended()
		})
	}
}

func TestChunkedRequest(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		c := g.dial()
		c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n")
		resp, _ := c.answer("POST")
		require.Equal(t, 200, resp.StatusCode)
		head, body := rec.last()
		require.Equal(t, "hello!", body)
		require.Contains(t, head, "Content-Length: 6\r\n")
		require.NotContains(t, head, "Transfer-Encoding")

		c.send("GET", "/t/acme/next", "")
		resp, _ = c.answer("GET")
		require.Equal(t, 200, resp.StatusCode)
	})
}

func TestLargeBodies(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{MaxBody: 4 << 20})
		g.place("n1", newNode(t).addr(), "acme")
		for _, size := range []int{1, 16 << 10, 16<<10 + 1, 100_000, 1 << 20, 1<<20 + 1, 4 << 20} {
			text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			status, body := g.call("POST", "/t/acme/x", text)
			require.Equal(t, 200, status)
			require.True(t, body == fmt.Sprintf("%d %s", size, text), "%d bytes", size)
		}
	})
}

func TestBodyTooLarge(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{MaxBody: 100})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		for _, text := range []string{
			"Content-Length: 101\r\n\r\n" + strings.Repeat("x", 101),
			"Transfer-Encoding: chunked\r\n\r\n65\r\n" + strings.Repeat("x", 101) + "\r\n0\r\n\r\n",
		} {
			c := g.dial()
			c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\n" + text)
			resp, _ := c.answer("POST")
			require.Equal(t, 413, resp.StatusCode)
		}
		require.Empty(t, rec.heads)
		status, _ := g.call("POST", "/t/acme/x", strings.Repeat("x", 100))
		require.Equal(t, 200, status)
	})
}

func TestBodyTooLargeIsNotRead(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{MaxBody: 100})
	g.place("n1", newNode(t).addr(), "acme")
	c := g.dial()
	c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
	resp, _ := c.answer("POST")
	require.Equal(t, 413, resp.StatusCode)
	require.True(t, resp.Close)
	c.ended()
}

func TestExpectContinue(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{MaxBody: 100})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		c := g.dial()
		c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		line, err := c.r.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
		_, err = c.r.ReadString('\n')
		require.NoError(t, err)
		c.write("hello")
		resp, _ := c.answer("POST")
		require.Equal(t, 200, resp.StatusCode)
		head, body := rec.last()
		require.Equal(t, "hello", body)
		require.NotContains(t, head, "Expect")

		c = g.dial()
		c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n")
		resp, _ = c.answer("POST")
		require.Equal(t, 413, resp.StatusCode, "without a 100 before it")

		c = g.dial()
		c.write("POST /t/nobody/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		resp, _ = c.answer("POST")
		require.Equal(t, 404, resp.StatusCode, "without a 100 before it")
	})
}

func TestChunkedAnswer(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		more := make(chan struct{})
		n := newNode(t)
		n.data = func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "first")
			w.(http.Flusher).Flush()
			<-more
			io.WriteString(w, "second")
		}
		g.place("n1", n.addr(), "acme")
		c := g.dial()
		c.send("GET", "/t/acme/x", "")
		resp, err := http.ReadResponse(c.r, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"chunked"}, resp.TransferEncoding)
		require.False(t, resp.Close)
		piece := make([]byte, 5)
		_, err = io.ReadFull(resp.Body, piece)
		require.NoError(t, err)
		require.Equal(t, "first", string(piece), "as it arrives")
		close(more)
		rest, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, "second", string(rest))
		c.send("GET", "/_health", "")
		resp, _ = c.answer("GET")
		require.Equal(t, 200, resp.StatusCode, "the connection is kept")
	})
}

func TestChunkedAnswerToAnOldClient(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		c.request()
		c.reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n")
	}), "acme")
	c := g.dial()
	c.write("GET /t/acme/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
	resp, body := c.answer("GET")
	require.Empty(t, resp.TransferEncoding)
	require.True(t, resp.Close)
	require.Equal(t, "hello!", body)
}

// TestBrokenAnswers breaks an answer off at every place that matters.
func TestBrokenAnswers(t *testing.T) {
	long := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 2<<20)
	for _, c := range []struct {
		name, answer string
		refused      bool // the client is told, or else cut off
	}{
		{"in the head", "HTTP/1.1 200 OK\r\nContent-Le", true},
		{"behind the head", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", true},
		{"half-way through the body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", true},
		{"half-way through a long body", long + strings.Repeat("x", 1<<20), false},
		{"in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nhe", false},
		{"between chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false},
		{"a bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nx\r\n", false},
		{"no head", "220 smtp.example ESMTP\r\n\r\n", true},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", true},
		{"an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			faces(t, func(t *testing.T, f face) {
				g := startRouter(t, f, router.Options{})
				var asked atomic.Int32
				g.place("n1", rawNode(t, func(conn *rawConn, _ int) {
					if _, _, err := conn.request(); err == nil {
						asked.Add(1)
						conn.reply(c.answer)
					}
				}), "acme")
				conn := g.dial()
				conn.send("GET", "/t/acme/x", "")
				resp, err := http.ReadResponse(conn.r, nil)
				require.NoError(t, err)
				body, err := io.ReadAll(resp.Body)
				if c.refused {
					require.NoError(t, err)
					require.Equal(t, 502, resp.StatusCode)
					require.Contains(t, string(body), "n1")
					require.NotContains(t, string(body), "127.0.0.1")
				} else {
					require.Error(t, err, "the client must not take it for whole")
				}
				require.EqualValues(t, 1, asked.Load(), "it is not sent again")
			})
		})
	}
}

func TestSilentNode(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{UpstreamTimeout: 200 * time.Millisecond})
		var asked atomic.Int32
		g.place("n1", rawNode(t, func(c *rawConn, _ int) {
			c.request()
			asked.Add(1)
			io.Copy(io.Discard, c)
		}), "acme")
		status, body := g.call("GET", "/t/acme/x", "")
		require.Equal(t, 502, status)
		require.Contains(t, body, "n1")
		require.EqualValues(t, 1, asked.Load(), "it is not sent again")
	})
}

func TestNodeDown(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		addr := deadAddr(t)
		g.place("n1", addr, "acme")
		for range 3 {
			status, body := g.call("GET", "/t/acme/x", "")
			require.Equal(t, 502, status)
			require.Contains(t, body, "n1")
			require.NotContains(t, body, addr)
		}
		require.Equal(t, 1, strings.Count(g.log.String(), "n1"), "logged once: %s", g.log)

		l, err := net.Listen("tcp", addr)
		require.NoError(t, err)
		defer l.Close()
		go http.Serve(l, http.HandlerFunc(echo))
		status, _ := g.call("GET", "/t/acme/x", "")
		require.Equal(t, 200, status)
		require.Contains(t, g.log.String(), "answers again")
	})
}

func TestStream(t *testing.T) {
	for name, chunked := range map[string]bool{"until the end": false, "in chunks": true} {
		t.Run(name, func(t *testing.T) {
			faces(t, func(t *testing.T, f face) {
				g := startRouter(t, f, router.Options{UpstreamTimeout: 200 * time.Millisecond, IdleTimeout: 200 * time.Millisecond})
				events, gone := make(chan string), make(chan struct{})
				g.place("n1", rawNode(t, func(c *rawConn, _ int) {
					c.request()
					head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
					if chunked {
						head += "Transfer-Encoding: chunked\r\n"
					}
					c.reply(head + "\r\n")
					go func() {
						io.Copy(io.Discard, c)
						close(gone)
					}()
					for e := range events {
						if chunked {
							e = fmt.Sprintf("%x\r\n%s\r\n", len(e), e)
						}
						c.reply(e)
					}
				}), "acme")
				c := g.dial()
				c.send("GET", "/t/acme/notes/changes", "")
				resp, err := http.ReadResponse(c.r, nil)
				require.NoError(t, err)
				require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
				require.True(t, resp.Close)
				require.NotEmpty(t, resp.Header.Get("X-Request-Id"))
				body := bufio.NewReader(resp.Body)
				silence := time.After(400 * time.Millisecond) // longer than every bound
				for i := range 3 {
					events <- fmt.Sprintf("data: %d\n", i)
					line, err := body.ReadString('\n')
					require.NoError(t, err)
					require.Equal(t, fmt.Sprintf("data: %d\n", i), line)
					if i == 1 {
						<-silence
					}
				}
				c.Close()
				<-gone // the client's going frees the node's stream at once
				close(events)
			})
		})
	}
}

func TestStreamEndsWithTheNode(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		g.place("n1", rawNode(t, func(c *rawConn, _ int) {
			c.request()
			c.reply("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
		}), "acme")
		c := g.dial()
		c.send("GET", "/t/acme/notes/changes", "")
		_, body := c.answer("GET")
		require.Contains(t, body, "data: 1\n\n")
		c.ended()
	})
}
