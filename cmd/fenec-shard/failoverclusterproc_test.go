//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// procCluster is a router and three nodes that write under its leases, each a process.
type procCluster struct {
	t         *testing.T
	dir       string
	server    string // the built fenec-server
	term      time.Duration
	nodes     []*procNode
	router    *daemon
	routerAt  string
	tenants   []string
	rounds    map[string]int // by fault
	counted   int            // failovers that routers before this one have counted
	surprises int            // nodes failed over that nothing was done to
	said      *procLog
}

const procTokens = "data-token-of-a-test"

// newProcCluster starts one. A network gives each node its link and how it is started, and
// part, if it is not nil, says by which flags it takes part: those of a leased one else.
func newProcCluster(t *testing.T, network func(c *procCluster, n *procNode), part func(n *procNode) []string) *procCluster {
	c := &procCluster{t: t, dir: t.TempDir(), term: time.Second, routerAt: "127.0.0.1:0", rounds: map[string]int{}, said: &procLog{t: t}}
	t.Cleanup(c.said.end)
	c.server = filepath.Join(c.dir, "fenec-server")
	out, err := exec.Command("go", "build", "-o", c.server, "../fenec-server").CombinedOutput()
	require.NoError(t, err, "%s", out)
	c.startRouter()
	for _, name := range []string{"n1", "n2", "n3"} {
		n := &procNode{c: c, name: name, listen: "127.0.0.1:0", flags: []string{"--lease"}}
		c.nodes = append(c.nodes, n)
		if part != nil {
			n.flags = part(n)
		}
		network(c, n)
		n.start()
		body := fmt.Sprintf(`{"addr":%q,"token":%q}`, n.addr, procTokens)
		status, answer := c.shard("PUT", "nodes/"+name, body)
		require.Equal(t, 201, status, answer)
	}
	return c
}

// proxied has others reach a node by a link, and the test reach it past that.
func proxied(c *procCluster, n *procNode) {
	n.link = newLink(c.t)
	n.addr = n.link.addr
}

func (c *procCluster) says(format string, args ...any) {
	c.said.say("test", fmt.Sprintf(format, args...))
}

// startRouter starts the router, where it was before.
func (c *procCluster) startRouter() {
	c.t.Helper()
	c.router = c.launch("router", os.Args[0], "--directory", filepath.Join(c.dir, "shard.fenec"), "--listen", c.routerAt,
		"--replicas", "--auto-failover", fmt.Sprint(int(c.term.Seconds())), "--upstream-timeout", "5", "--auth-delay", "0")
	c.routerAt = c.router.addr
}

// killRouter kills the router, whose counts go with it.
func (c *procCluster) killRouter() {
	c.t.Helper()
	c.counted = c.failovers()
	c.router.kill()
}

// procNode is a node.
type procNode struct {
	c      *procCluster
	name   string
	before []string // what starts the daemon, "" for nothing
	flags  []string
	listen string
	addr   string // where the others reach it
	direct string // where the test does
	link   *link
	*daemon
}

func (n *procNode) start() {
	n.c.t.Helper()
	args := append(append([]string{}, n.before...), n.c.server, "--dir", filepath.Join(n.c.dir, n.name), "--http", n.listen,
		"--http-token", procTokens, "--admin-token", procTokens, "--replication-token", "r", "--sync", "always",
		"--http-keepalive", "1", "--max-connections", "0", "--auth-delay", "0")
	args = append(args, n.flags...)
	n.daemon = n.c.launch(n.name, args[0], args[1:]...)
	if n.link != nil {
		n.listen = n.daemon.addr
		n.direct = n.daemon.addr
		n.link.leadTo(n.direct)
	}
}

// daemon is a process that runs.
type daemon struct {
	cmd  *exec.Cmd
	addr string
	done chan struct{} // closed once all that it said was read
}

var procListens = regexp.MustCompile(`listening on: http://(\S+)`)

func (c *procCluster) launch(name, bin string, args ...string) *daemon {
	c.t.Helper()
	p := &daemon{cmd: exec.Command(bin, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), playing+"=1")
	stderr, err := p.cmd.StderrPipe()
	require.NoError(c.t, err)
	require.NoError(c.t, p.cmd.Start())
	c.t.Cleanup(p.kill)
	listens := make(chan string, 1)
	go func() {
		defer close(p.done)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			c.said.say(name, lines.Text())
			if m := procListens.FindStringSubmatch(lines.Text()); m != nil {
				listens <- m[1]
			}
		}
	}()
	select {
	case p.addr = <-listens:
	case <-p.done:
		require.Fail(c.t, "did not start", name)
	}
	return p
}

// kill ends the process as the end of its machine would.
func (p *daemon) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
	_ = p.cmd.Wait()
}

func (p *daemon) halt()   { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *daemon) resume() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// procLog is what all have said, which a test that fails tells.
type procLog struct {
	mu    sync.Mutex // guards the fields below
	t     *testing.T // nil once it has ended
	lines []string
}

const procLogKept = 400

func (l *procLog) say(who, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := time.Now().Format("15:04:05.000 ") + who + ": " + text
	if l.lines = append(l.lines, line); len(l.lines) > procLogKept {
		l.lines = l.lines[1:]
	}
	if os.Getenv("FENEC_LOUD") != "" {
		fmt.Fprintln(os.Stderr, line)
	}
}

func (l *procLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t.Failed() {
		l.t.Logf("%s", strings.Join(l.lines, "\n"))
	}
}

var procClient = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// call asks and returns the status, 0 for no answer, and the body.
func call(method, url, token, body string) (int, string, http.Header) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, err.Error(), nil
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := procClient.Do(req)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error(), nil
	}
	return res.StatusCode, string(bytes.TrimSpace(b)), res.Header
}

func (c *procCluster) shard(method, path, body string) (int, string) {
	status, answer, _ := call(method, "http://"+c.routerAt+"/_shard/"+path, "", body)
	return status, answer
}

// create makes tenants, as many on each node.
func (c *procCluster) create(tenants int) {
	c.t.Helper()
	for i := range tenants {
		name := fmt.Sprintf("t%d", i)
		status, answer := c.shard("PUT", "tenants/"+name, fmt.Sprintf(`{"node":%q}`, c.nodes[i%len(c.nodes)].name))
		require.Equal(c.t, 201, status, answer)
		status, answer, _ = call("POST", "http://"+c.routerAt+"/t/"+name+"/query", procTokens, `{"query":"create collection log (n int @sorted)"}`)
		require.Equal(c.t, 200, status, answer)
		c.tenants = append(c.tenants, name)
	}
	c.settle()
}

// placed is where a tenant is.
type placed struct {
	Name, Node, State, Replica string
	Epoch                      int64
}

func (c *procCluster) places() (list []placed) {
	if status, answer := c.shard("GET", "tenants", ""); status != 200 || json.Unmarshal([]byte(answer), &list) != nil {
		return nil
	}
	return list
}

func (c *procCluster) node(name string) *procNode {
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// busyNode returns a node that has tenants.
func (c *procCluster) busyNode(r *rand.Rand) *procNode {
	places := c.places()
	require.NotEmpty(c.t, places)
	return c.node(places[r.IntN(len(places))].Node)
}

const procPatience = 60 * time.Second

func (c *procCluster) eventually(so func() bool, what string) {
	c.t.Helper()
	require.Eventually(c.t, so, procPatience, 10*time.Millisecond, what)
}

// awaitFailover waits until no tenant is on a node.
func (c *procCluster) awaitFailover(n *procNode) {
	c.t.Helper()
	c.eventually(func() bool {
		places := c.places()
		for _, p := range places {
			if p.Node == n.name {
				return false
			}
		}
		return len(places) > 0
	}, n.name+" is failed over")
}

// settle waits until every tenant has a replica that its writes wait for.
func (c *procCluster) settle() {
	c.t.Helper()
	why := ""
	c.eventually(func() bool { why = c.unsettled(); return why == "" }, "all is well")
	require.Empty(c.t, why)
}

// unsettled says what is not well, "" for nothing.
func (c *procCluster) unsettled() string {
	places := c.places()
	if len(places) < len(c.tenants) {
		return "the router does not say where tenants are"
	}
	for _, p := range places {
		if p.State != "active" || p.Replica == "" {
			return fmt.Sprintf("%+v", p)
		}
		status, answer, _ := call("GET", "http://"+c.node(p.Node).direct+"/t/"+p.Name+"/_replication/status", "r", "")
		var st struct{ Replicas []struct{ Lags bool } }
		if status != 200 || json.Unmarshal([]byte(answer), &st) != nil || len(st.Replicas) == 0 {
			return p.Name + ": " + answer
		}
		for _, r := range st.Replicas {
			if r.Lags {
				return p.Name + ": " + answer
			}
		}
	}
	return ""
}

var procFailovers = regexp.MustCompile(`(?m)^fenec_router_auto_failovers_total\{outcome="done"\} (\d+)`)

// failovers returns how many there were.
func (c *procCluster) failovers() (n int) {
	c.t.Helper()
	_, page, _ := call("GET", "http://"+c.routerAt+"/_metrics", "", "")
	m := procFailovers.FindStringSubmatch(page)
	require.NotNil(c.t, m, page)
	_, _ = fmt.Sscan(m[1], &n)
	return n + c.counted
}
