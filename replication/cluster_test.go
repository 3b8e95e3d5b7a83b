package replication

import (
	"testing"
	"time"
)

// cluster joins a router's leases to nodes' fences by calls that take no time.
type cluster struct {
	t      *testing.T
	now    time.Duration
	leases *Leases
	fences map[string]*Fence
	cut    map[string]bool // nodes that get nothing
	mute   map[string]bool // nodes whose answers are lost
	sent   []Send
}

const term = 600 * ms

// newCluster has nodes n1 to n3, with a tenant each: a, b and c.
func newCluster(t *testing.T, o LeaseOptions) *cluster {
	o.Term = term
	c := &cluster{t: t, fences: map[string]*Fence{}, cut: map[string]bool{}, mute: map[string]bool{}}
	for i, node := range []string{"n1", "n2", "n3"} {
		c.fences[node] = NewFence(uint64(i+1)<<32, Authority{})
	}
	c.restart(o)
	return c
}

func (c *cluster) restart(o LeaseOptions) {
	o.Term = term
	c.leases = NewLeases(c.now, o)
	for node, tenant := range map[string]string{"n1": "a", "n2": "b", "n3": "c"} {
		c.leases.Place(c.now, node, []string{tenant})
	}
}

// perform sends what is to be sent, and returns what else is to be done.
func (c *cluster) perform(actions []Action) (rest []Action) {
	for _, a := range actions {
		send, ok := a.(Send)
		if !ok {
			rest = append(rest, a)
			continue
		}
		c.sent = append(c.sent, send)
		if c.cut[send.Node] {
			continue
		}
		st, err := c.fences[send.Node].Grant(at(c.now), send.Grant)
		if !c.mute[send.Node] {
			rest = append(rest, c.perform(c.leases.Answered(c.now, send, st, err))...)
		}
	}
	return rest
}

// rounds has n rounds, the first an interval from now.
func (c *cluster) rounds(n int) (rest []Action) {
	for range n {
		c.now += c.leases.Interval()
		rest = append(rest, c.perform(c.leases.Round(c.now))...)
	}
	return rest
}

func (c *cluster) admits(node, tenant string) error { return c.fences[node].Admits(at(c.now), tenant) }

// lists counts the grants that came with a list.
func (c *cluster) lists() (n int) {
	for _, s := range c.sent {
		if s.Grant.Primaries != nil {
			n++
		}
	}
	return n
}
