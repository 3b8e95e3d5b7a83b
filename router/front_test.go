package router_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

func TestTooManyConnections(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{MaxConnections: 2})
	g.place("n1", newNode(t).addr(), "acme")
	open := []*conn{g.dial(), g.dial()}
	for _, c := range open {
		c.send("GET", "/t/acme/x", "")
		resp, _ := c.answer("GET")
		require.Equal(t, 200, resp.StatusCode)
	}
	c := g.dial()
	c.send("GET", "/t/acme/x", "")
	resp, body := c.answer("GET")
	require.Equal(t, 503, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
	require.Contains(t, body, `"retry_after":1`)
	require.Regexp(t, "^[0-9a-f]{16}$", resp.Header.Get("X-Request-Id"))
	require.True(t, resp.Close)
	c.ended()

	open[0].send("GET", "/t/acme/x", "", "Connection: close")
	resp, _ = open[0].answer("GET")
	require.Equal(t, 200, resp.StatusCode)
	open[0].ended()
	require.Eventually(t, func() bool {
		c := g.dial()
		c.send("GET", "/t/acme/x", "", "Connection: close")
		resp, _ := c.answer("GET")
		return resp.StatusCode == 200
	}, 5*time.Second, time.Millisecond, "the place is free again")
}

func TestNoConnectionLimit(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{MaxConnections: -1})
	for range 50 {
		c := g.dial()
		c.send("GET", "/_health", "")
		resp, _ := c.answer("GET")
		require.Equal(t, 200, resp.StatusCode)
	}
}

func TestSilentClients(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{IdleTimeout: 200 * time.Millisecond})
	g.place("n1", newNode(t).addr(), "acme")
	for _, c := range []struct {
		name, text string
		status     int // 0: nothing is written
	}{
		{"from the start", "", 0},
		{"between requests", "GET /_health HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		{"in the header", "GET /_hea", 408},
		{"in the body", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", 408},
		{"in a chunk", "POST /t/acme/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 408},
		{"in a body that is skipped", "POST /t/nobody/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", 408},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := g.dial()
			conn.write(c.text)
			if strings.Contains(c.text, "_health ") {
				resp, _ := conn.answer("GET")
				require.Equal(t, 200, resp.StatusCode)
			}
			if c.status != 0 {
				resp, _ := conn.answer("GET")
				require.Equal(t, c.status, resp.StatusCode)
				require.True(t, resp.Close)
			}
			conn.ended()
		})
	}
}

// TestStoppedReader has a client take nothing of a large answer.
func TestStoppedReader(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{IdleTimeout: 200 * time.Millisecond})
	gone := make(chan struct{})
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		c.request()
		c.reply("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
		piece := []byte(strings.Repeat("x", 64<<10))
		for {
			if _, err := c.Write(piece); err != nil {
				close(gone)
				return
			}
		}
	}), "acme")
	c := g.dial()
	c.send("GET", "/t/acme/notes/changes", "")
	<-gone
}

func TestShutdownWaitsForRequests(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	n := newNode(t)
	n.data = func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		echo(w, r)
	}
	dir := openDirectory(t, "")
	rt, addr, served := serveRouter(t, router.Options{Directory: dir})
	record := router.Node{Name: "n1", Addr: n.addr(), Token: router.NewToken("x")}
	require.NoError(t, dir.PutNode(record))
	require.NoError(t, dir.Place("acme", record))
	g := &rig{t: t, rt: rt, addr: addr}

	idle, partial, busy := g.dial(), g.dial(), g.dial()
	idle.send("GET", "/_health", "")
	idle.answer("GET")
	partial.write("GET /_he")
	busy.send("GET", "/t/acme/x", "")
	<-arrived
	down := make(chan error)
	go func() { down <- rt.Shutdown(context.Background()) }()
	require.ErrorIs(t, <-served, router.ErrClosed)
	idle.ended()
	partial.ended()
	_, err := net.Dial("tcp", addr)
	require.Error(t, err, "nobody is let in")
	close(release)
	resp, _ := busy.answer("GET")
	require.Equal(t, 200, resp.StatusCode)
	require.True(t, resp.Close)
	busy.ended()
	require.NoError(t, <-down)
	require.NoError(t, rt.Shutdown(context.Background()), "again")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorIs(t, rt.Serve(l), router.ErrClosed)
	_, err = l.Accept()
	require.Error(t, err, "the listener is closed")
}

// serveRouter starts a router that the test shuts down itself.
func serveRouter(t *testing.T, opts router.Options) (rt *router.Router, addr string, served chan error) {
	opts.ErrorLog = log.New(io.Discard, "", 0)
	rt, err := router.New(opts)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served = make(chan error, 1)
	go func() { served <- rt.Serve(l) }()
	t.Cleanup(func() { rt.Shutdown(context.Background()) })
	return rt, l.Addr().String(), served
}

func TestShutdownCutsOff(t *testing.T) {
	arrived := make(chan struct{})
	dir := openDirectory(t, "")
	rt, addr, _ := serveRouter(t, router.Options{Directory: dir})
	record := router.Node{Name: "n1", Addr: rawNode(t, func(c *rawConn, _ int) {
		c.request()
		close(arrived)
		io.Copy(io.Discard, c)
	}), Token: router.NewToken("x")}
	require.NoError(t, dir.PutNode(record))
	require.NoError(t, dir.Place("acme", record))
	g := &rig{t: t, rt: rt, addr: addr}
	c := g.dial()
	c.send("GET", "/t/acme/x", "")
	<-arrived
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, rt.Shutdown(ctx), context.Canceled)
	io.ReadAll(c.r) // ends
}

func TestShutdownEndsStreams(t *testing.T) {
	gone := make(chan struct{})
	dir := openDirectory(t, "")
	rt, addr, _ := serveRouter(t, router.Options{Directory: dir})
	record := router.Node{Name: "n1", Addr: rawNode(t, func(c *rawConn, _ int) {
		c.request()
		c.reply("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n")
		io.Copy(io.Discard, c)
		close(gone)
	}), Token: router.NewToken("x")}
	require.NoError(t, dir.PutNode(record))
	require.NoError(t, dir.Place("acme", record))
	g := &rig{t: t, rt: rt, addr: addr}
	c := g.dial()
	c.send("GET", "/t/acme/notes/changes", "")
	resp, err := http.ReadResponse(c.r, nil)
	require.NoError(t, err)
	require.NoError(t, iotest.TestReader(io.LimitReader(resp.Body, 8), []byte(": hello\n")))
	require.NoError(t, rt.Shutdown(context.Background()))
	<-gone
	io.ReadAll(c.r) // ends
}

// failingListener fails once, temporarily, before it accepts.
type failingListener struct {
	net.Listener
	failed atomic.Bool
}

type temporary struct{ error }

func (temporary) Temporary() bool { return true }

func (l *failingListener) Accept() (net.Conn, error) {
	if l.failed.CompareAndSwap(false, true) {
		return nil, temporary{errors.New("too many open files")}
	}
	return l.Listener.Accept()
}

func TestServeOutlivesTemporaryErrors(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- g.rt.Serve(&failingListener{Listener: l}) }()
	other := &rig{t: t, rt: g.rt, addr: l.Addr().String()}
	status, _ := other.call("GET", "/_health", "")
	require.Equal(t, 200, status)
	require.Contains(t, g.log.String(), "too many open files")
	l.Close()
	require.ErrorIs(t, <-served, net.ErrClosed)
}

// plainListener hides that its connections are TCP's.
type plainListener struct{ net.Listener }

func (l plainListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{c}, nil
}

func TestServeOnOtherConnections(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", newNode(t).addr(), "acme")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go g.rt.Serve(plainListener{l})
	c := (&rig{t: t, rt: g.rt, addr: l.Addr().String()}).dial()
	for range 20 {
		c.send("GET", "/t/acme/x", "")
		resp, _ := c.answer("GET")
		require.Equal(t, 200, resp.StatusCode)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []router.Options{{MaxConnections: -2}, {MaxBody: -1}, {UpstreamTimeout: -1}, {IdleTimeout: -1}} {
		_, err := router.New(o)
		require.Error(t, err, "%+v", o)
	}
	rt, err := router.New(router.Options{})
	require.NoError(t, err)
	require.Empty(t, rt.Directory().Nodes())
	require.NoError(t, rt.Shutdown(context.Background()))
}
