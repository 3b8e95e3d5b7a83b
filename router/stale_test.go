package router

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStaleCopies(t *testing.T) {
	ms := func(d time.Duration) *int64 { n := d.Milliseconds(); return &n }
	never := int64(-1)
	for name, c := range map[string]struct {
		silent time.Duration // negative if it is not known
		stands standing
		stale  bool
	}{
		"level until the node was lost":            {5 * time.Second, standing{Role: roleReplica, LagMs: ms(7 * time.Second)}, false},
		"within the margin":                        {5 * time.Second, standing{Role: roleReplica, LagMs: ms(15 * time.Second)}, false},
		"out of touch before":                      {5 * time.Second, standing{Role: roleReplica, LagMs: ms(16 * time.Second)}, true},
		"lost long ago, as the node":               {time.Hour, standing{Role: roleReplica, LagMs: ms(time.Hour)}, false},
		"never level":                              {time.Hour, standing{Role: roleReplica, LagMs: &never}, true},
		"promoted before":                          {5 * time.Second, standing{Role: rolePrimary}, false},
		"its node does not tell":                   {5 * time.Second, standing{Role: roleReplica}, false},
		"it is not known when the node was lost":   {-1, standing{Role: roleReplica, LagMs: ms(time.Hour)}, false},
		"nor whether the copy ever was level then": {-1, standing{Role: roleReplica, LagMs: &never}, false},
	} {
		l := &leasing{clock: func() time.Duration { return time.Hour }, tenures: map[string]*tenure{"n1": {}}}
		if c.silent >= 0 {
			l.tenures["n1"].hear(time.Hour-c.silent, nil)
		}
		err := (&promotion{leasing: l, from: "n1"}).stale("n2", c.stands)
		if c.stale {
			require.ErrorIs(t, err, ErrStale, name)
		} else {
			require.NoError(t, err, name)
		}
	}
	require.NoError(t, (&promotion{from: "n1"}).stale("n2", standing{Role: roleReplica, LagMs: &never}), "without leases")
}

// A copy that was out of touch does not take over, by itself or by hand, but another may;
// and it does once that is what somebody wants.
func TestStaleCopiesDoNotTakeOver(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{AutoFailover: time.Minute})
	for _, name := range []string{"acme", "beta"} {
		c.create(addr, name, "n1")
		replicate(t, rt, name, "n2")
	}
	replicate(t, rt, "beta", "n3")
	c.change("n2", func(n *copyNode) {
		for _, f := range n.tenants {
			f.lagMs = (2 * time.Minute).Milliseconds()
		}
	})
	require.Eventually(t, func() bool { _, known := rt.leasing.silent("n1"); return known }, 10*time.Second, time.Millisecond)
	c.change("n1", func(n *copyNode) { n.down = true })

	const why = "node n2: its copy was last known to be level 2m0s ago, and node n1 was heard of 0s ago: " +
		"it may lack writes from before its primary was lost; with force it takes over all the same"
	require.ErrorContains(t, rt.failOverLost(context.Background(), "n1", []string{"acme", "beta"}), why)
	at, _ := rt.directory.Tenant("acme")
	require.Equal(t, "n1", at.Node)
	at, _ = rt.directory.Tenant("beta")
	require.Equal(t, "n3", at.Node)
	status, body := failoverCall(t, addr, "n1")
	require.Equal(t, 502, status, body)
	require.Contains(t, body, why)
	status, body = shardCall(t, addr, "POST", "nodes/n1/failover", `{"force":true}`)
	require.Equal(t, 200, status, body)
	at, _ = rt.directory.Tenant("acme")
	require.Equal(t, "n2", at.Node)
}
