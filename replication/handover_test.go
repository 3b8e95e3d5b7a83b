package replication

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHandOver(t *testing.T) {
	failOver := []Action{FailOver{Node: "n1", Tenants: []string{"a"}}}
	for name, c := range map[string]struct {
		prepare func(c *cluster)
		force   bool
		at      time.Duration // when the failover may begin, after the last answer
	}{
		"node gives the tenants up": {func(*cluster) {}, false, 0},
		"node is silent":            {func(c *cluster) { c.cut["n1"] = true }, false, term * 4 / 3},
		"node's answers are lost":   {func(c *cluster) { c.mute["n1"] = true }, false, term * 4 / 3},
		"node is silent, and force": {func(c *cluster) { c.cut["n1"] = true }, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newCluster(t, LeaseOptions{})
			cl.rounds(2)
			acked := cl.now
			c.prepare(cl)
			actions, err := cl.leases.HandOver(cl.now, "n1", []string{"a"}, c.force)
			require.NoError(t, err)
			rest := cl.perform(actions)
			_, err = cl.leases.HandOver(cl.now, "n1", []string{"a"}, c.force)
			require.ErrorIs(t, err, ErrInProgress)
			for len(rest) == 0 {
				rest = cl.rounds(1)
			}
			require.Equal(t, failOver, rest)
			require.Equal(t, c.at, cl.now-acked)
			require.Equal(t, c.force, cl.admits("n1", "a") == nil, "the node has stopped, unless forced")
		})
	}
	c := newCluster(t, LeaseOptions{})
	_, err := c.leases.HandOver(0, "n9", nil, false)
	require.ErrorIs(t, err, ErrUnknownNode)
}

// What is not handed over stays with the node.
func TestHandOverOfOne(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.leases.Place(c.now, "n1", []string{"a", "d"})
	c.rounds(1)
	actions, err := c.leases.HandOver(c.now, "n1", []string{"d"}, false)
	require.NoError(t, err)
	require.Equal(t, []Action{FailOver{Node: "n1", Tenants: []string{"d"}}}, c.perform(actions))
	require.NoError(t, c.admits("n1", "a"))
	require.ErrorIs(t, c.admits("n1", "d"), ErrElsewhere)
}

// The answer to a list that still had the tenants must not begin a failover.
func TestHandOverBesideAGrant(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	before := c.leases.Grant(c.now, "n1")[0].(Send)
	actions, err := c.leases.HandOver(c.now, "n1", []string{"a"}, false)
	require.NoError(t, err)
	require.Empty(t, c.perform([]Action{before}))
	require.NoError(t, c.admits("n1", "a"))
	require.Len(t, c.perform(actions), 1)
	require.ErrorIs(t, c.admits("n1", "a"), ErrElsewhere)
}

// Giving a failover up gives the node its tenants back.
func TestHandOverGivenUp(t *testing.T) {
	c := newCluster(t, LeaseOptions{})
	c.rounds(2)
	actions, err := c.leases.HandOver(c.now, "n1", []string{"a"}, false)
	require.NoError(t, err)
	require.Len(t, c.perform(actions), 1)
	require.Empty(t, c.perform(c.leases.FailedOver(c.now, "n1")))
	require.NoError(t, c.admits("n1", "a"))
}
