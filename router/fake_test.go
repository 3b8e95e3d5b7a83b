package router_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

// node is a small node: the administration that the router needs, and a handler
// for its tenants' requests.
type node struct {
	*httptest.Server
	token string
	data  http.HandlerFunc // under /t/; echoes if nil

	mu      sync.Mutex
	disk    int64
	tenants map[string]int64
	refuse  int // status of every create and delete, if not 0
	parts   parts
	// unpurgeable refuses to delete a tenant for good.
	unpurgeable bool
	asked       []string
}

func newNode(t testing.TB) *node {
	n := &node{token: "admin-secret", tenants: map[string]int64{}}
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(n.Close)
	return n
}

func (n *node) addr() string { return n.Listener.Addr().String() }

func (n *node) serve(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/_admin/") {
		if n.data != nil {
			n.data(w, r)
			return
		}
		echo(w, r)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, r.Method+" "+r.RequestURI)
	if r.Header.Get("Authorization") != "Bearer "+n.token {
		w.WriteHeader(401)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/_admin/tenants/"); ok {
		n.serveTenant(w, r, name)
		return
	}
	switch r.URL.Path {
	case "/_admin/stats":
		fmt.Fprintf(w, `{"tenants":%d,"disk":%d,"memory":0,"open":0}`, len(n.tenants), n.disk)
	case "/_admin/sizes":
		json.NewEncoder(w).Encode(n.tenants)
	}
}

func (n *node) serveTenant(w http.ResponseWriter, r *http.Request, name string) {
	name, part, _ := strings.Cut(name, "/")
	_, exists := n.tenants[name]
	switch {
	case part != "":
		n.servePart(w, r, name, part)
	case n.refuse != 0:
		w.WriteHeader(n.refuse)
		io.WriteString(w, `{"error":"as told"}`)
	case r.Method == "GET" && exists:
		io.WriteString(w, `{"seq":1,"boot":"b"}`)
	case r.Method == "GET":
		w.WriteHeader(404)
	case r.Method == "PUT" && exists:
		w.WriteHeader(409)
	case r.Method == "PUT":
		n.tenants[name] = 4096
		w.WriteHeader(201)
	case r.Method == "DELETE" && n.unpurgeable && r.URL.RawQuery == "purge=1":
		w.WriteHeader(503)
	case r.Method == "DELETE" && !exists:
		w.WriteHeader(404)
	case r.Method == "DELETE":
		delete(n.tenants, name)
		w.WriteHeader(204)
	}
}

func (n *node) has(tenant string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ok := n.tenants[tenant]
	return ok
}

func (n *node) set(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

// echo answers with the request line, the body's length and the body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Got", r.Method+" "+r.RequestURI)
	fmt.Fprintf(w, "%d %s", r.ContentLength, body)
}

// face is how clients reach a router.
type face string

// The two faces: the router's own server, and net/http's with the router as its
// handler.
const (
	ownFace  face = "Serve"
	httpFace face = "Handler"
)

// faces runs a test behind both.
func faces(t *testing.T, test func(t *testing.T, f face)) {
	for _, f := range []face{ownFace, httpFace} {
		t.Run(string(f), func(t *testing.T) { test(t, f) })
	}
}

// openDirectory opens a directory that is closed when the test ends.
func openDirectory(t testing.TB, path string) *router.Directory {
	d, err := router.OpenDirectory(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// rig is a router that listens.
type rig struct {
	t    testing.TB
	rt   *router.Router
	addr string
	log  *lines
}

// startRouter starts a router. The directory is in memory unless opts has one.
func startRouter(t testing.TB, f face, opts router.Options) *rig {
	g := &rig{t: t, log: &lines{}}
	if opts.Directory == nil {
		opts.Directory = openDirectory(t, "")
	}
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.New(g.log, "", 0)
	}
	rt, err := router.New(opts)
	require.NoError(t, err)
	g.rt = rt
	if f == httpFace {
		server := httptest.NewServer(rt)
		t.Cleanup(func() { server.Close(); rt.Shutdown(context.Background()) })
		g.addr = server.Listener.Addr().String()
		return g
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g.addr = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- rt.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		require.NoError(t, rt.Shutdown(ctx))
		require.ErrorIs(t, <-served, router.ErrClosed)
	})
	return g
}

// lines keeps what is logged.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// place records a node at addr that holds the tenants.
func (g *rig) place(name, addr string, tenants ...string) {
	g.t.Helper()
	n := router.Node{Name: name, Addr: addr, Token: router.NewToken("admin-secret")}
	require.NoError(g.t, g.rt.Directory().PutNode(n))
	for _, tenant := range tenants {
		require.NoError(g.t, g.rt.Directory().Place(tenant, n))
	}
}

// call sends one request on a connection of its own and returns the status and
// the body.
func (g *rig) call(method, target, body string, header ...string) (int, string) {
	g.t.Helper()
	status, _, text := g.callHead(method, target, body, header...)
	return status, text
}

func (g *rig) callHead(method, target, body string, header ...string) (int, http.Header, string) {
	g.t.Helper()
	c := g.dial()
	c.send(method, target, body, append(header, "Connection: close")...)
	resp, text := c.answer(method)
	return resp.StatusCode, resp.Header, text
}

// direct asks the router as a handler, without a connection.
func (g *rig) direct(method, target string) (int, string) {
	w := httptest.NewRecorder()
	g.rt.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Code, w.Body.String()
}

// What is awaited is looked for this often, for this long.
const (
	eventually = 5 * time.Second
	tick       = time.Millisecond
)

// conn is a client's connection.
type conn struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func (g *rig) dial() *conn {
	g.t.Helper()
	c, err := net.Dial("tcp", g.addr)
	require.NoError(g.t, err)
	g.t.Cleanup(func() { c.Close() })
	require.NoError(g.t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return newConn(g.t, c)
}

func newConn(t testing.TB, c net.Conn) *conn { return &conn{c, t, bufio.NewReader(c)} }

// send sends a request; a body is announced with its length.
func (c *conn) send(method, target, body string, header ...string) {
	c.t.Helper()
	head := append([]string{method + " " + target + " HTTP/1.1", "Host: router"}, header...)
	if body != "" {
		head = append(head, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	c.write(strings.Join(head, "\r\n") + "\r\n\r\n" + body)
}

func (c *conn) write(text string) {
	c.t.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(c.t, err)
}

// answer reads the answer to a request of the given method.
func (c *conn) answer(method string) (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, &http.Request{Method: method})
	require.NoError(c.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp, string(body)
}

// ended asserts that nothing but the end of the connection follows.
func (c *conn) ended() {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	require.NoError(c.t, err)
	require.Empty(c.t, string(rest))
}

// rawNode is a node that handles each connection by a function, which is told
// which one it is, from 1.
func rawNode(t testing.TB, handle func(c *rawConn, number int)) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards conns
	var conns []net.Conn
	wg.Go(func() {
		for number := 1; ; number++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				handle(&rawConn{c, bufio.NewReader(c)}, number)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// rawConn is the node's side of a connection.
type rawConn struct {
	net.Conn
	r *bufio.Reader
}

// request reads a request whole, as its head's text and its body.
func (c *rawConn) request() (head, body string, err error) {
	var lines strings.Builder
	length := 0
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		lines.WriteString(line)
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			fmt.Sscan(n, &length)
		}
		if line == "\r\n" {
			break
		}
	}
	buf := make([]byte, length)
	_, err = io.ReadFull(c.r, buf)
	return lines.String(), string(buf), err
}

func (c *rawConn) reply(text string) { io.WriteString(c, text) }

const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

// serving answers every request with ok.
func serving(c *rawConn, _ int) {
	for {
		if _, _, err := c.request(); err != nil {
			return
		}
		c.reply(ok)
	}
}
