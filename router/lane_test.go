package router_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

// warmUp asks often enough to be put on the express lane.
func warmUp(c *conn, target string) {
	c.t.Helper()
	for range 30 {
		c.send("GET", target, "")
		resp, _ := c.answer("GET")
		require.Equal(c.t, 200, resp.StatusCode)
	}
}

// TestExpress runs what is hard for a held connection behind a busy client, and
// then the client goes on.
func TestExpress(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, g *rig, c *conn)
	}{
		{"a pause of the client", func(t *testing.T, g *rig, c *conn) {
			<-time.After(60 * time.Millisecond) // longer than a connection is held
		}},
		{"a request in two pieces with a pause", func(t *testing.T, g *rig, c *conn) {
			c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhello")
			<-time.After(60 * time.Millisecond)
			c.write("world")
			_, body := c.answer("POST")
			require.Equal(t, "10 helloworld", body)
		}},
		{"a slow answer", func(t *testing.T, g *rig, c *conn) {
			c.send("GET", "/t/acme/slow", "")
			resp, _ := c.answer("GET")
			require.Equal(t, 200, resp.StatusCode)
		}},
		{"another node", func(t *testing.T, g *rig, c *conn) {
			for range 3 {
				warmUp(c, "/t/beta/x")
				warmUp(c, "/t/acme/x")
			}
		}},
		{"large bodies", func(t *testing.T, g *rig, c *conn) {
			for _, size := range []int{70_000, 3 << 20} {
				text := strings.Repeat("x", size)
				done := make(chan struct{})
				go func() {
					defer close(done)
					c.send("POST", "/t/acme/x", text)
				}()
				_, body := c.answer("POST")
				<-done
				require.True(t, body == fmt.Sprintf("%d %s", size, text))
			}
		}},
		{"an answer that the client takes late", func(t *testing.T, g *rig, c *conn) {
			c.send("GET", "/t/acme/large", "")
			<-time.After(60 * time.Millisecond)
			_, body := c.answer("GET")
			require.Len(t, body, 8<<20)
		}},
		{"chunks", func(t *testing.T, g *rig, c *conn) {
			c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
			_, body := c.answer("POST")
			require.Equal(t, "5 hello", body)
		}},
		{"own routes and refusals", func(t *testing.T, g *rig, c *conn) {
			for target, status := range map[string]int{"/_health": 200, "/t/nobody/x": 404, "/_shard/nodes": 200} {
				c.send("GET", target, "")
				resp, _ := c.answer("GET")
				require.Equal(t, status, resp.StatusCode)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := startRouter(t, ownFace, router.Options{})
			n := newNode(t)
			n.data = func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/t/acme/slow":
					<-time.After(60 * time.Millisecond)
				case "/t/acme/large":
					w.Header().Set("Content-Length", fmt.Sprint(8<<20))
					io.WriteString(w, strings.Repeat("x", 8<<20))
					return
				}
				echo(w, r)
			}
			g.place("n1", n.addr(), "acme")
			g.place("n2", newNode(t).addr(), "beta")
			conn := g.dial()
			for range 2 {
				warmUp(conn, "/t/acme/x")
				c.run(t, g, conn)
			}
			warmUp(conn, "/t/acme/x")
		})
	}
}

// TestExpressStale closes the connection that a busy client's requests use.
func TestExpressStale(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	var posts atomic.Int32
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		for {
			head, _, err := c.request()
			if err != nil {
				return
			}
			if strings.HasPrefix(head, "POST") {
				posts.Add(1)
			}
			if strings.Contains(head, "/last") {
				// The end is there before the client can ask again.
				c.reply(strings.Replace(ok, "{}", "", 1))
				c.Conn.(interface{ CloseWrite() error }).CloseWrite()
				return
			}
			c.reply(ok)
		}
	}), "acme")
	c := g.dial()
	for i := range 3 {
		warmUp(c, "/t/acme/x")
		c.send("HEAD", "/t/acme/last", "")
		resp, _ := c.answer("HEAD")
		require.Equal(t, 200, resp.StatusCode)
		c.send("POST", "/t/acme/x", "{}")
		resp, _ = c.answer("POST")
		require.Contains(t, []int{200, 502}, resp.StatusCode)
		require.LessOrEqual(t, posts.Load(), int32(i+1), "never twice")
	}
}

func TestExpressNodeFails(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{UpstreamTimeout: 500 * time.Millisecond})
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		for {
			head, _, err := c.request()
			switch {
			case err != nil || strings.Contains(head, "/break"):
				return
			case strings.Contains(head, "/silent"):
				io.Copy(io.Discard, c)
				return
			}
			c.reply(ok)
		}
	}), "acme")
	c := g.dial()
	for _, target := range []string{"/t/acme/break", "/t/acme/silent"} {
		warmUp(c, "/t/acme/x")
		c.send("DELETE", target, "")
		resp, _ := c.answer("DELETE")
		require.Equal(t, 502, resp.StatusCode)
	}
	warmUp(c, "/t/acme/x")
}

func TestExpressStream(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	gone := make(chan struct{})
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		for {
			head, _, err := c.request()
			if err != nil {
				return
			}
			if strings.Contains(head, "/changes") {
				c.reply("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n")
				io.Copy(io.Discard, c)
				close(gone)
				return
			}
			c.reply(ok)
		}
	}), "acme")
	c := g.dial()
	warmUp(c, "/t/acme/x")
	c.send("GET", "/t/acme/changes", "")
	resp, err := http.ReadResponse(c.r, nil)
	require.NoError(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, 8))
	require.NoError(t, err)
	c.Close()
	<-gone
}

// TestExpressCrowd has more busy clients than there is room on the lane.
func TestExpressCrowd(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", newNode(t).addr(), "acme")
	var clients sync.WaitGroup
	for i := range 16 {
		c := g.dial()
		clients.Go(func() {
			for k := range 100 {
				text := fmt.Sprintf("%d-%d", i, k)
				c.send("POST", "/t/acme/x", text)
				if _, body := c.answer("POST"); body != fmt.Sprintf("%d %s", len(text), text) {
					panic("somebody else's answer: " + body)
				}
			}
		})
	}
	clients.Wait()
}
