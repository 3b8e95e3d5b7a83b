package router

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/replication"
)

// cluster joins the leasing of a router to fences of nodes, by calls that take no time,
// within a bubble of synctest.
type cluster struct {
	t         *testing.T
	directory *Directory
	history   *forked
	leasing   *leasing
	start     time.Time
	leap      atomic.Int64 // how long the router has stood still

	mu        sync.Mutex // guards the fields below
	nodes     map[string]*fenced
	boots     uint64
	replicas  map[string]string // by tenant
	failovers []failover
	repairs   []string        // by node
	restarts  []string        // nodes that were looked at as they were started anew
	refuse    map[string]bool // tenants that cannot be promoted
	slow      time.Duration   // that a failover and a repair take
	log       []string
}

// forked is a store whose lineage a test sets.
type forked struct {
	store
	histories replication.Lineage
}

func (f *forked) lineage() replication.Lineage { return f.histories }

// promote has the directory fork, as it does when a standby takes a router's place.
func (c *cluster) promote() {
	c.history.histories = append(c.history.histories, replication.Entry{ID: replication.ID(len(c.history.histories) + 1)})
}

// fenced is a node.
type fenced struct {
	fence *replication.Fence // nil of one that writes without leases
	cut   bool               // nothing reaches it
	mute  bool               // its answers are lost
	hangs bool               // it takes what reaches it, and answers nothing until its caller gives up
	sent  []replication.Grant
}

// failover is one that was carried out.
type failover struct {
	at      time.Duration
	node    string
	tenants []string
}

const testTerm = 600 * time.Millisecond

// inCluster runs a test in a cluster of nodes n1 to n3 with a tenant each, a to c, whose
// replicas are on the next one.
func inCluster(t *testing.T, test func(c *cluster)) {
	synctest.Test(t, func(t *testing.T) {
		file, err := openFile("", DirectoryOptions{})
		require.NoError(t, err)
		history := &forked{store: file}
		d, err := newDirectory(history)
		require.NoError(t, err)
		c := &cluster{t: t, directory: d, history: history, start: time.Now(), nodes: map[string]*fenced{},
			replicas: map[string]string{"a": "n2", "b": "n3", "c": "n1"}, refuse: map[string]bool{}}
		for i, tenant := range []string{"a", "b", "c"} {
			name := fmt.Sprintf("n%d", i+1)
			n := Node{Name: name, Addr: name + ":1", Token: NewToken("x")}
			require.NoError(t, d.PutNode(n))
			require.NoError(t, d.Place(tenant, n))
			c.boot(name)
		}
		c.begin()
		defer func() {
			c.leasing.close()
			require.NoError(t, d.Close())
		}()
		test(c)
	})
}

// boot starts a node anew.
func (c *cluster) boot(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.boots++
	c.nodes[node] = &fenced{fence: replication.NewFence(c.boots<<32, replication.Authority{})}
}

// begin starts a router anew.
func (c *cluster) begin() {
	if c.leasing != nil {
		c.leasing.close()
	}
	l := newLeasing(c.directory, testTerm, c.logf)
	l.clock, l.grant, l.failOver, l.repair, l.restored = c.now, c.grant, c.failOver, c.repair, c.restored
	c.leasing = l
	l.begin()
	synctest.Wait()
}

func (c *cluster) logf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

// logged counts the lines that have the text.
func (c *cluster) logged(text string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.log {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (c *cluster) now() time.Duration { return time.Since(c.start) + time.Duration(c.leap.Load()) }

func (c *cluster) instant() replication.Instant {
	return replication.Instant{Boot: c.now(), Wall: c.now()}
}

var errSilent = errors.New("silence")

func (c *cluster) grant(ctx context.Context, n Node, g replication.Grant) (replication.State, error) {
	c.mu.Lock()
	node := c.nodes[n.Name]
	node.sent = append(node.sent, g)
	if node.cut {
		c.mu.Unlock()
		return replication.State{}, errSilent
	}
	st, err := node.fence.Grant(c.instant(), g)
	mute, hangs := node.mute, node.hangs
	c.mu.Unlock()
	if hangs {
		<-ctx.Done()
	}
	if mute || hangs {
		return replication.State{}, errSilent
	}
	return st, err
}

// failOver places tenants where their replicas are.
func (c *cluster) failOver(_ context.Context, node string, tenants []string) error {
	c.mu.Lock()
	c.failovers = append(c.failovers, failover{c.now(), node, tenants})
	slow := c.slow
	c.mu.Unlock()
	time.Sleep(slow)
	var left error
	for _, tenant := range tenants {
		c.mu.Lock()
		refuse, to := c.refuse[tenant], c.replicas[tenant]
		c.mu.Unlock()
		if refuse || to == "" {
			left = fmt.Errorf("tenant %s: its replica is down", tenant)
			continue
		}
		release, err := c.directory.Claim(tenant)
		if err != nil {
			left = err
			continue
		}
		c.flip(tenant, to)
		release()
	}
	return left
}

func (c *cluster) flip(tenant, to string) {
	n, ok := c.directory.Node(to)
	if !ok {
		panic(to)
	}
	if err := c.directory.flip(tenant, n, 0); err != nil {
		panic(err)
	}
}

func (c *cluster) repair(_ context.Context, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.repairs = append(c.repairs, node)
	return nil
}

func (c *cluster) restored(_ context.Context, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restarts = append(c.restarts, node)
	return nil
}

// with changes a node.
func (c *cluster) with(node string, change func(*fenced)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c.nodes[node])
}

// admits tells why a tenant may not be written on a node.
func (c *cluster) admits(node, tenant string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[node].fence.Admits(c.instant(), tenant)
}

// writers returns the nodes that may write a tenant under a lease. There must never be
// two.
func (c *cluster) writers(tenant string) (list []string) {
	for _, node := range slices.Sorted(maps.Keys(c.nodes)) {
		if c.nodes[node].fence != nil && c.admits(node, tenant) == nil {
			list = append(list, node)
		}
	}
	require.LessOrEqual(c.t, len(list), 1, "%s at %s: %v", tenant, c.now(), list)
	return list
}

// pass lets a time pass, and looks at each moment of it.
func (c *cluster) pass(d time.Duration) {
	for end := c.now() + d; c.now() < end; {
		time.Sleep(time.Millisecond)
		synctest.Wait()
		for _, tenant := range []string{"a", "b", "c"} {
			c.writers(tenant)
		}
	}
}

// until lets time pass until something is so, and returns how much.
func (c *cluster) until(so func() bool) time.Duration {
	begun := c.now()
	for !so() {
		require.Less(c.t, c.now()-begun, 20*testTerm)
		c.pass(time.Millisecond)
	}
	return c.now() - begun
}

func (c *cluster) writes(tenant string, node ...string) func() bool {
	return func() bool { return slices.Equal(c.writers(tenant), node) }
}

// sent returns the grants that a node was sent.
func (c *cluster) sent(node string) []replication.Grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.nodes[node].sent)
}

func lists(grants []replication.Grant) (n int) {
	for _, g := range grants {
		if g.Primaries != nil {
			n++
		}
	}
	return n
}
