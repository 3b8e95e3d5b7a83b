package node_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// secretR is the replication token of the tests.
var secretR = serve.NewSecret("r")

// peer is a node of a cluster, at an address that stays its own when it is started again.
type peer struct {
	*client
	opts   node.Options
	listen net.Listener
	server *http.Server
	log    *logBuffer
}

// logBuffer is a log that can be looked at while it is written.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// startPeer starts a node, which has both tokens and whose writes are on disk when they are
// answered.
func startPeer(t *testing.T, change ...func(*node.Options)) *peer {
	t.Helper()
	p := &peer{client: &client{t: t, dir: t.TempDir()}, log: &logBuffer{}}
	p.opts = node.Options{AdminToken: secretA, ReplicationToken: secretR}
	p.opts.Tenants.DB.Sync = fenec.SyncAlways
	p.opts.Surface.ErrorLog = log.New(p.log, "", 0)
	for _, c := range change {
		c(&p.opts)
	}
	p.open("127.0.0.1:0")
	t.Cleanup(func() {
		p.close()
		if t.Failed() {
			t.Logf("the log of the node at %s:\n%s", p.url, p.log)
		}
	})
	return p
}

func (p *peer) open(addr string) {
	p.t.Helper()
	n, err := node.Open(p.dir, p.opts)
	require.NoError(p.t, err)
	p.node = n
	p.listen, err = net.Listen("tcp", addr)
	require.NoError(p.t, err)
	p.url = "http://" + p.listen.Addr().String()
	p.server = &http.Server{Handler: n, ErrorLog: p.opts.Surface.ErrorLog}
	go func() {
		if err := p.server.Serve(p.listen); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}()
}

func (p *peer) close() {
	if p.node != nil {
		p.node.EndStreams()
		require.NoError(p.t, p.server.Close())
		require.NoError(p.t, p.node.Close())
		p.node = nil
	}
}

// again starts the node anew, with other options if change says so.
func (p *peer) again(change ...func(*node.Options)) {
	p.t.Helper()
	p.close()
	for _, c := range change {
		c(&p.opts)
	}
	p.open(p.listen.Addr().String())
}

func standbyOf(p *peer) func(*node.Options) {
	return func(o *node.Options) { o.ReplicaOf = p.url }
}

func alone(o *node.Options) { o.ReplicaOf = "" }

// create makes a tenant with notes (a int).
func (p *peer) create(name string) {
	p.t.Helper()
	p.want(201, "", "PUT", "/_admin/tenants/"+name, "a", "")
	status, body := p.query(name, "create collection notes (a int)")
	require.Equal(p.t, 200, status, body)
}

func (p *peer) put(name string, a int) {
	p.t.Helper()
	p.want(201, "", "POST", "/t/"+name+"/notes", "", fmt.Sprintf(`{"a":%d}`, a))
}

// copyOf makes a tenant that follows the one of its name at another node.
func (p *peer) copyOf(from *peer, name string) {
	p.t.Helper()
	p.want(201, "", "PUT", "/_admin/tenants/"+name, "a", "")
	p.follow(name, from)
}

func (p *peer) follow(name string, from *peer) {
	p.t.Helper()
	p.want(200, `{"following":"`+name+`"}`, "POST", "/_admin/tenants/"+name+"/follow", "a", `{"from":"`+from.url+`"}`)
}

// eventually waits until ok.
func eventually(t *testing.T, ok func() bool, what string) {
	t.Helper()
	require.Eventually(t, ok, 30*time.Second, 5*time.Millisecond, what)
}

// has waits until a tenant has that many notes.
func (p *peer) has(name string, notes int) {
	p.t.Helper()
	want := fmt.Sprintf(`{"count":%d}`, notes)
	eventually(p.t, func() bool {
		status, body := p.do("GET", "/t/"+name+"/notes?count", "", "")
		return status == 200 && body == want
	}, "it has "+want)
}

// position is what GET /_admin/tenants/<t> answers.
type position struct {
	Seq, Last              uint64
	Role, History, Follows string
	Frozen, Incomplete     bool
}

func (p *peer) position(name string) (at position) {
	p.t.Helper()
	status, body := p.do("GET", "/_admin/tenants/"+name, "a", "")
	require.Equal(p.t, 200, status, body)
	require.NoError(p.t, json.Unmarshal([]byte(body), &at))
	return at
}

// standing is what GET status answers.
type standing struct {
	Role      string
	Seq       uint64
	Durable   *uint64
	Replicas  []struct{ Sent uint64 }
	Primary   string
	Connected bool
	Behind    uint64
	Images    uint64
	Diverged  uint64
	Error     string
}

func (p *peer) status(name string) (st standing) {
	p.t.Helper()
	status, body := p.do("GET", "/t/"+name+"/_replication/status", "r", "")
	require.Equal(p.t, 200, status, body)
	require.NoError(p.t, json.Unmarshal([]byte(body), &st))
	return st
}

// level waits until a replica has what its primary has.
func (p *peer) level(name string, primary *peer) {
	p.t.Helper()
	eventually(p.t, func() bool {
		a, b := primary.position(name), p.position(name)
		return b.Role == "replica" && a.Last == b.Last && a.History == b.History && !b.Incomplete
	}, "the replica is level")
}
