package router_test

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

// TestResend ends connections at the places that decide whether a request is
// sent again.
func TestResend(t *testing.T) {
	unanswered := func(c *rawConn) { c.request() }
	for _, c := range []struct {
		name, method, header string
		first                func(c *rawConn) // handles the first connection, and the second if twice
		twice                bool
		status, runs         int
	}{
		{"GET unanswered", "GET", "", unanswered, false, 200, 2},
		{"HEAD unanswered", "HEAD", "", unanswered, false, 200, 2},
		{"OPTIONS unanswered", "OPTIONS", "", unanswered, false, 200, 2},
		{"POST unanswered", "POST", "", unanswered, false, 502, 1},
		{"PUT unanswered", "PUT", "", unanswered, false, 502, 1},
		{"PATCH unanswered", "PATCH", "", unanswered, false, 502, 1},
		{"DELETE unanswered", "DELETE", "", unanswered, false, 502, 1},
		{"POST with a key", "POST", "Idempotency-Key: k1", unanswered, false, 200, 2},
		{"DELETE with a key", "DELETE", "Idempotency-Key: k1", unanswered, false, 200, 2},
		{"POST with an empty key", "POST", "Idempotency-Key:", unanswered, false, 502, 1},
		{"POST with a key unanswered twice", "POST", "Idempotency-Key: k1", unanswered, true, 502, 2},
		{"GET unanswered twice", "GET", "", unanswered, true, 502, 2},
		{"half a head", "GET", "", func(c *rawConn) { c.request(); c.reply("HTTP/1.1 2") }, false, 502, 1},
		{"an interim answer only", "GET", "", func(c *rawConn) { c.request(); c.reply("HTTP/1.1 100 Continue\r\n\r\n") }, false, 502, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			faces(t, func(t *testing.T, f face) {
				g := startRouter(t, f, router.Options{})
				var runs atomic.Int32
				g.place("n1", rawNode(t, func(conn *rawConn, number int) {
					runs.Add(1)
					if number == 1 || c.twice {
						c.first(conn)
						return
					}
					conn.request()
					if c.method == "HEAD" {
						conn.reply(strings.TrimSuffix(ok, "{}"))
					} else {
						conn.reply(ok)
					}
				}), "acme")
				header := []string{"X: y"}
				if c.header != "" {
					header = append(header, c.header)
				}
				body := ""
				if c.method[0] == 'P' {
					body = "{}"
				}
				conn := g.dial()
				conn.send(c.method, "/t/acme/x", body, header...)
				resp, _ := conn.answer(c.method)
				require.Equal(t, c.status, resp.StatusCode)
				require.EqualValues(t, c.runs, runs.Load())
			})
		})
	}
}

// TestClosedWhileUnused ends a kept connection between two requests: the second
// must find that out before it is sent.
func TestClosedWhileUnused(t *testing.T) {
	for _, stray := range []string{"", "HTTP/1.1 408 Request Timeout\r\n\r\n"} {
		faces(t, func(t *testing.T, f face) {
			g := startRouter(t, f, router.Options{})
			end, ended := make(chan struct{}), make(chan struct{})
			var posts atomic.Int32
			g.place("n1", rawNode(t, func(c *rawConn, number int) {
				if number == 1 {
					c.request()
					c.reply(ok)
					<-end
					c.reply(stray)
					c.Close()
					close(ended)
					return
				}
				for {
					head, _, err := c.request()
					if err != nil {
						return
					}
					if strings.HasPrefix(head, "POST") {
						posts.Add(1)
					}
					c.reply(ok)
				}
			}), "acme")
			c := g.dial()
			c.send("GET", "/t/acme/x", "")
			resp, _ := c.answer("GET")
			require.Equal(t, 200, resp.StatusCode)
			close(end)
			<-ended
			c.send("POST", "/t/acme/x", "{}")
			resp, _ = c.answer("POST")
			require.Equal(t, 200, resp.StatusCode)
			require.EqualValues(t, 1, posts.Load())
		})
	}
}

// TestBrokenWhileSending ends the connection while a large body is on its way:
// it cannot have run, so it is sent again.
func TestBrokenWhileSending(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		body := strings.Repeat("0123456789abcdef", 2<<20)
		var whole atomic.Int32
		g.place("n1", rawNode(t, func(c *rawConn, number int) {
			if number == 1 {
				io.ReadFull(c, make([]byte, 100_000))
				return // with unread bytes: a reset
			}
			if _, got, err := c.request(); err == nil && got == body {
				whole.Add(1)
				c.reply(ok)
			}
		}), "acme")
		status, _ := g.call("POST", "/t/acme/x", body)
		require.Equal(t, 200, status)
		require.EqualValues(t, 1, whole.Load())
	})
}

// TestEarlyAnswer has the node refuse a large body without reading it.
func TestEarlyAnswer(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		io.ReadFull(c, make([]byte, 1000))
		c.reply("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
		io.Copy(io.Discard, c)
	}), "acme")
	status, _ := g.call("POST", "/t/acme/x", strings.Repeat("x", 8<<20))
	require.Equal(t, 413, status)
}

func TestConnectionsAreKept(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		var opened atomic.Int32
		g.place("n1", rawNode(t, func(c *rawConn, number int) {
			opened.Store(int32(number))
			serving(c, number)
		}), "acme", "beta")
		for i := range 50 {
			status, _ := g.call("GET", []string{"/t/acme/x", "/t/beta/x"}[i%2], "")
			require.Equal(t, 200, status)
		}
		require.EqualValues(t, 1, opened.Load())
	})
}

func TestAnswersThatEndTheNodesConnection(t *testing.T) {
	for name, answer := range map[string]string{
		"close":       "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
		"1.0":         "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
		"extra bytes": ok + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray",
	} {
		t.Run(name, func(t *testing.T) {
			g := startRouter(t, ownFace, router.Options{})
			var opened atomic.Int32
			g.place("n1", rawNode(t, func(c *rawConn, number int) {
				opened.Store(int32(number))
				for {
					if _, _, err := c.request(); err != nil {
						return
					}
					c.reply(answer)
				}
			}), "acme")
			c := g.dial()
			for i := range 3 {
				c.send("GET", "/t/acme/x", "")
				_, body := c.answer("GET")
				require.Equal(t, "{}", body)
				require.EqualValues(t, i+1, opened.Load())
			}
		})
	}
}

func TestNodeMoves(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	reply := func(text string) string {
		return rawNode(t, func(c *rawConn, _ int) {
			for {
				if _, _, err := c.request(); err != nil {
					return
				}
				c.reply(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text))
			}
		})
	}
	g.place("n1", reply("old"), "acme")
	c := g.dial()
	c.send("GET", "/t/acme/x", "")
	_, body := c.answer("GET")
	require.Equal(t, "old", body)
	g.place("n1", reply("new"))
	c.send("GET", "/t/acme/x", "")
	_, body = c.answer("GET")
	require.Equal(t, "new", body)
}
