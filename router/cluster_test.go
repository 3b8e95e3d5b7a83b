package router

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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	fenecclient "github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// What a part of a cluster works on and where it listens.
const (
	playingDir  = "FENEC_TEST_DIR"
	playingAddr = "FENEC_TEST_ADDR"
)

// Tokens of a cluster in tests.
const (
	clusterData  = "data"
	clusterAdmin = "admin"
)

// playTenants plays a node over a directory.
func playTenants(dir, addr string) {
	n, err := node.Open(dir, node.Options{
		Surface:    serve.Options{Token: fenecclient.NewSecret(clusterData)},
		AdminToken: NewToken(clusterAdmin),
	})
	if err != nil {
		panic(err)
	}
	playAt(addr, func(l net.Listener) error { return http.Serve(l, n) })
}

// playShard plays a router over a directory file. Before each step of a move it says so,
// and goes on when it is told to.
func playShard(file, addr string) {
	d, err := OpenDirectory(file)
	if err != nil {
		panic(err)
	}
	answers := bufio.NewScanner(os.Stdin)
	var one sync.Mutex // of those that ask
	rt, err := New(Options{Directory: d, UpstreamTimeout: 5 * time.Second, step: func(name string) {
		one.Lock()
		defer one.Unlock()
		fmt.Println("step", name)
		if !answers.Scan() {
			select {} // the test has ended
		}
	}})
	if err != nil {
		panic(err)
	}
	playAt(addr, rt.Serve)
}

// playAt listens at the address, says so, and serves until the process is killed.
func playAt(addr string, serve func(net.Listener) error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		panic(err)
	}
	fmt.Println("listening", l.Addr())
	panic(serve(l))
}

// part is a part of a cluster, in a process of its own.
type part struct {
	t         testing.TB
	name, dir string
	addr      string
	cmd       *exec.Cmd
	in        io.Writer
	step      func(name string) // told what a router does next; it goes on afterwards
	ended     chan struct{}
}

// startPart starts a part. One that is started again listens where it did.
func startPart(t testing.TB, name, dir string, step func(string)) *part {
	p := &part{t: t, name: name, dir: dir, addr: "127.0.0.1:0", step: step}
	p.start()
	t.Cleanup(p.kill)
	return p
}

func (p *part) start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), playing+"="+p.name, playingDir+"="+p.dir, playingAddr+"="+p.addr)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	require.NoError(p.t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, p.cmd.Start())
	p.in, p.ended = in, make(chan struct{})
	listening := make(chan string, 1)
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if addr, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
				listening <- addr
			} else if name, ok := strings.CutPrefix(lines.Text(), "step "); ok {
				p.step(name)
				fmt.Fprintln(in)
			}
		}
	}()
	select {
	case p.addr = <-listening:
	case <-p.ended:
		p.t.Fatalf("%s did not start", p.name)
	}
}

// kill ends the part as kill -9 does.
func (p *part) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// localNode is a node in this process.
type localNode struct {
	Node
	dir    string
	opts   node.Options
	fault  func(w http.ResponseWriter, r *http.Request) bool // answers in the node's stead
	mu     sync.Mutex                                        // guards the fields below
	node   *node.Node
	server *http.Server
}

func startLocalNode(t testing.TB, name string, change ...func(*node.Options)) *localNode {
	n := &localNode{Node: Node{Name: name, Addr: "127.0.0.1:0", Token: NewToken(clusterAdmin)}, dir: t.TempDir()}
	n.opts = node.Options{
		Surface:    serve.Options{Token: fenecclient.NewSecret(clusterData)},
		AdminToken: NewToken(clusterAdmin),
	}
	for _, c := range change {
		c(&n.opts)
	}
	n.start(t)
	t.Cleanup(n.stop)
	return n
}

func (n *localNode) start(t testing.TB) {
	l, err := net.Listen("tcp", n.Addr)
	require.NoError(t, err)
	n.Addr = l.Addr().String()
	nd, err := node.Open(n.dir, n.opts)
	require.NoError(t, err)
	srv := &http.Server{Handler: http.HandlerFunc(n.serve), ErrorLog: log.New(io.Discard, "", 0)}
	n.mu.Lock()
	n.node, n.server = nd, srv
	n.mu.Unlock()
	go srv.Serve(l)
}

func (n *localNode) serve(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	nd, fault := n.node, n.fault
	n.mu.Unlock()
	if fault == nil || !fault(w, r) {
		nd.ServeHTTP(w, r)
	}
}

// failing has f answer in the node's stead what it wants to.
func (n *localNode) failing(f func(w http.ResponseWriter, r *http.Request) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = f
}

func (n *localNode) stop() {
	n.server.Close()
	n.node.Close()
}

// holds reports whether the node has a file of the tenant.
func (n *localNode) holds(t testing.TB, tenant string) bool {
	_, err := os.Stat(filepath.Join(n.dir, tenant+".fenec"))
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	return err == nil
}

// testWriter logs to a test.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", bytes.TrimSpace(p))
	return len(p), nil
}

// routerOver starts a router over the nodes, with a directory in memory unless the
// options have one.
func routerOver(t testing.TB, opts Options, nodes ...*localNode) (*Router, string) {
	t.Helper()
	if opts.Directory == nil {
		d, err := OpenDirectory("")
		require.NoError(t, err)
		t.Cleanup(func() { d.Close() })
		opts.Directory = d
	}
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.New(testWriter{t}, "", 0)
	}
	if opts.UpstreamTimeout == 0 {
		opts.UpstreamTimeout = 5 * time.Second
	}
	rt, err := New(opts)
	require.NoError(t, err)
	for _, n := range nodes {
		require.NoError(t, opts.Directory.PutNode(n.Node))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- rt.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		rt.Shutdown(ctx)
		require.ErrorIs(t, <-served, ErrClosed)
	})
	return rt, l.Addr().String()
}

// shardCall asks a router under /_shard/ and returns the status and the body.
func shardCall(t testing.TB, addr, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+addr+"/_shard/"+path, strings.NewReader(body))
	require.NoError(t, err)
	return answerOf(t, req)
}

func answerOf(t testing.TB, req *http.Request) (int, string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(bytes.TrimSpace(b))
}

// statement runs a statement of a tenant through a router.
func statement(t testing.TB, addr, tenant, text string) (int, string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": text})
	require.NoError(t, err)
	req, err := http.NewRequest("POST", "http://"+addr+"/t/"+tenant+"/query", bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+clusterData)
	return answerOf(t, req)
}

// mustRun runs statements of which none may fail.
func mustRun(t testing.TB, addr, tenant string, statements ...string) (last string) {
	t.Helper()
	for _, text := range statements {
		status, body := statement(t, addr, tenant, text)
		require.Equal(t, 200, status, "%s: %s", text, body)
		last = body
	}
	return last
}
