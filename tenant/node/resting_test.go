package node_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// bubble is a cluster of nodes within a synctest bubble: connections are pipes.
type bubble struct {
	t *testing.T

	mu    sync.Mutex
	hosts map[string]*pipes
}

// pipes is a listener.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// inside is a node of a bubble.
type inside struct {
	*bubble
	node   *node.Node
	dir    string
	opts   node.Options
	server *http.Server
	log    *logBuffer
}

func newBubble(t *testing.T) *bubble { return &bubble{t: t, hosts: map[string]*pipes{}} }

// connect is for transports.
func (b *bubble) connect(ctx context.Context, _, addr string) (net.Conn, error) {
	b.mu.Lock()
	to := b.hosts[addr]
	b.mu.Unlock()
	if to == nil {
		return nil, net.ErrClosed
	}
	client, server := net.Pipe()
	select {
	case to.accepted <- server:
		return client, nil
	case <-to.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *bubble) start(addr, dir string, opts node.Options) *inside {
	x := &inside{bubble: b, dir: dir, opts: opts, log: &logBuffer{}}
	transport := mirror.NewTransport()
	transport.DialContext = b.connect
	x.opts.Surface.ErrorLog = log.New(x.log, "", 0)
	x.opts.AdminToken, x.opts.ReplicationToken, x.opts.ReplicationTransport = secretA, secretR, transport
	x.open(addr)
	return x
}

func (x *inside) open(addr string) {
	n, err := node.Open(x.dir, x.opts)
	require.NoError(x.t, err)
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	x.node, x.server = n, &http.Server{Handler: n}
	x.mu.Lock()
	x.hosts[addr] = p
	x.mu.Unlock()
	go x.server.Serve(p)
}

// close ends the node, but not what follows it.
func (x *inside) close() {
	x.node.EndStreams()
	require.NoError(x.t, x.server.Close())
	require.NoError(x.t, x.node.Close())
	x.opts.ReplicationTransport.(*http.Transport).CloseIdleConnections()
}

func (x *inside) query(name, text string) {
	x.t.Helper()
	w := send(x.node, "POST", "/t/"+name+"/query", `{"query":"`+text+`"}`)
	require.Equal(x.t, 200, w.Code, w.Body.String())
}

func (x *inside) last(name string) uint64 {
	x.t.Helper()
	at, err := x.node.Tenants().Position(x.t.Context(), name)
	require.NoError(x.t, err)
	return at.Last
}

// figure returns one of the node's figures.
func (x *inside) figure(name string) (n int) {
	x.t.Helper()
	for line := range strings.Lines(figures(x.node)) {
		if _, err := fmt.Sscanf(line, name+" %d", &n); err == nil {
			return n
		}
	}
	x.t.Fatalf("no figure %s", name)
	return 0
}

// names returns names of tenants.
func names(count int) (list []string) {
	for i := range count {
		list = append(list, fmt.Sprintf("t%03d", i))
	}
	return list
}

// restingPair starts two nodes that have the tenant acme, which the second follows, and
// close it after a minute.
func restingPair(t *testing.T, dirs []string) (n1, n2 *inside) {
	t.Helper()
	b := newBubble(t)
	opts := node.Options{Tenants: tenant.Options{IdleClose: time.Minute, DB: fenec.Options{Sync: fenec.SyncAlways}}}
	n1 = b.start("n1:1", dirs[0], opts)
	opts.ReplicaOf = "http://n1:1"
	n2 = b.start("n2:1", dirs[1], opts)
	for _, n := range []*inside{n1, n2} {
		require.Equal(t, 201, admin(t, n.node, "PUT", "/_admin/tenants/acme", "", nil))
	}
	return n1, n2
}

// A replica rests when nothing has been written for long, its database is closed on both
// sides, and the next write wakes it.
func TestReplicasRestAndWake(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		n1, n2 := restingPair(t, dirs)
		n1.query("acme", "create collection notes (a int)")
		time.Sleep(time.Second)
		require.Equal(t, n1.last("acme"), n2.last("acme"))
		require.Equal(t, 1, n2.figure("fenec_replica_connected"))

		time.Sleep(50 * time.Second)
		require.Equal(t, 1, n2.figure("fenec_replica_connected"), "a minute has not passed")
		require.Len(t, n1.node.Tenants().Opened(), 1)
		time.Sleep(15 * time.Second)
		require.Equal(t, 1, n2.figure("fenec_replica_resting"))
		require.Zero(t, n2.figure("fenec_replica_connected"))
		require.Zero(t, n1.figure("fenec_replicas"))
		time.Sleep(61 * time.Second)
		require.Empty(t, n1.node.Tenants().Opened())
		require.Empty(t, n2.node.Tenants().Opened())

		n1.query("acme", "put notes {a: 1}")
		synctest.Wait()
		require.Equal(t, n1.last("acme"), n2.last("acme"), "it was waited for")
		require.Equal(t, 1, n2.figure("fenec_replica_connected"))

		// What is written while nobody listens is found when the primary is back.
		time.Sleep(3 * time.Minute)
		require.Equal(t, 1, n2.figure("fenec_replica_resting"))
		n1.close()
		time.Sleep(time.Minute)
		require.Equal(t, 1, n2.figure("fenec_replica_resting"), "it is not tried for nothing")
		n1.open("n3:1") // where nobody looks
		n1.query("acme", "put notes {a: 2}")
		n1.close()
		n1.open("n1:1")
		time.Sleep(6 * time.Second)
		require.Equal(t, n1.last("acme"), n2.last("acme"))
		time.Sleep(2 * time.Minute)
		require.Equal(t, 1, n2.figure("fenec_replica_resting"))
		require.Zero(t, n2.figure("fenec_replica_images_total"))
		n2.close()
		began := time.Now()
		n1.query("acme", "put notes {a: 3}")
		require.Equal(t, 500*time.Millisecond, time.Since(began), "nobody comes")
		n1.query("acme", "put notes {a: 4}")
		require.Equal(t, 500*time.Millisecond, time.Since(began), "and nobody is waited for")
		n1.close()
	})
}

// Far more tenants follow than may be open: none falls behind, at the start or when all of
// them are written.
func TestManyReplicasFewOpen(t *testing.T) {
	const count, most = 300, 20
	dirs := []string{t.TempDir(), t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		opts := node.Options{ReplicationBuffer: 1 << 20, Tenants: tenant.Options{MaxOpen: most, DB: fenec.Options{}}}
		n1 := b.start("n1:1", dirs[0], opts)
		opts.ReplicaOf = "http://n1:1"
		n2 := b.start("n2:1", dirs[1], opts)
		list := names(count)
		for _, name := range list {
			require.Equal(t, 201, admin(t, n2.node, "PUT", "/_admin/tenants/"+name, "", nil))
			require.Equal(t, 201, admin(t, n1.node, "PUT", "/_admin/tenants/"+name, "", nil))
		}
		level := func(what string, atMost time.Duration) {
			began := time.Now()
			for _, name := range list {
				for n2.last(name) != n1.last(name) {
					require.Less(t, time.Since(began), atMost, "%s: %s", what, name)
					time.Sleep(100 * time.Millisecond)
				}
			}
			t.Logf("%s: %v", what, time.Since(began))
			require.LessOrEqual(t, len(n1.node.Tenants().Opened()), most)
			require.LessOrEqual(t, len(n2.node.Tenants().Opened()), most)
		}
		for _, name := range list {
			n1.query(name, "create collection notes (a int)")
		}
		level("all made and written", 5*time.Minute)
		for i := range 3 {
			for _, name := range list {
				n1.query(name, fmt.Sprintf("put notes {a: %d}", i))
			}
		}
		level("all written", 5*time.Minute)
		n2.close()
		for _, name := range list {
			n1.query(name, "put notes {a: 9}")
		}
		n2.open("n2:1")
		require.Equal(t, 503, send(n2.node, "GET", "/_ready", "").Code)
		began := time.Now()
		for send(n2.node, "GET", "/_ready", "").Code != 200 {
			require.Less(t, time.Since(began), 5*time.Minute)
			time.Sleep(time.Second)
		}
		t.Logf("ready after %v", time.Since(began))
		level("all found", time.Minute)
		require.Equal(t, count, n2.figure("fenec_replica_tenants"))
		require.Zero(t, n2.figure("fenec_replica_behind"))
		n2.close()
		n1.close()
	})
}

// A node whose primary does not answer is ready all the same, once that is seen.
func TestReadyWithoutAPrimary(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		opts := node.Options{ReplicaOf: "http://n1:1", Tenants: tenant.Options{MaxOpen: 4}}
		n2 := b.start("n2:1", dir, opts)
		for _, name := range names(40) {
			require.Equal(t, 201, admin(t, n2.node, "PUT", "/_admin/tenants/"+name, "", nil))
		}
		n2.close()
		n2.open("n2:1")
		for began := time.Now(); send(n2.node, "GET", "/_ready", "").Code != 200; time.Sleep(100 * time.Millisecond) {
			require.Less(t, time.Since(began), 10*time.Second)
		}
		n2.close()
	})
}
