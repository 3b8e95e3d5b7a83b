package router

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func failoverCall(t testing.TB, addr, node string) (int, string) {
	t.Helper()
	return shardCall(t, addr, "POST", "nodes/"+node+"/failover", "")
}

// E8, E9: a standby takes over, with all that it has, and the pair is gone.
func TestFailoverOfAPair(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	c.create(addr, "beta", "n1")
	require.NoError(t, rt.directory.beginMove("beta", "n2"))
	c.change("n1", func(n *copyNode) { n.down = true })
	status, body := failoverCall(t, addr, "n1")
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"node":"n1","to":"n2","promoted":["acme","beta"],"failed":[]}`, body)
	for _, name := range []string{"acme", "beta"} {
		at, _ := rt.directory.Tenant(name)
		require.Equal(t, Tenant{Name: name, Node: "n2", State: StateActive, Epoch: 2}, at)
		require.True(t, c.write("n2", name))
		require.Equal(t, map[string]spareState{"n1": spareLeft}, spareStates(rt, name))
	}
	require.False(t, rt.directory.IsStandby("n2"))
	status, body = failoverCall(t, addr, "n1")
	require.Equal(t, 409, status)
	require.Contains(t, body, "no standby")
	status, _ = failoverCall(t, addr, "n9")
	require.Equal(t, 404, status)
	require.Empty(t, rt.directory.Strays(), "what is on the lost node may follow later")
}

// E10: what could not be promoted is left, and the pair with it, for another try.
func TestFailoverOfAPairInTwo(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	for _, name := range []string{"a", "b", "c"} {
		c.create(addr, name, "n1")
	}
	c.change("n2", func(n *copyNode) { n.fault = refusesOn("POST", "b", "/promote", 500) })
	status, body := failoverCall(t, addr, "n1")
	require.Equal(t, 502, status)
	require.JSONEq(t, `{"node":"n1","to":"n2","promoted":["a","c"],"failed":[{"tenant":"b","why":"node n2 answered 500: as told"}]}`, body)
	require.True(t, rt.directory.IsStandby("n2"))
	release, err := rt.directory.Claim("b")
	require.NoError(t, err)
	c.change("n2", func(n *copyNode) { n.fault = nil })
	_, body = failoverCall(t, addr, "n1")
	require.Contains(t, body, "in progress")
	release()
	status, body = failoverCall(t, addr, "n1")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"node":"n1","to":"n2","promoted":["b"],"failed":[]}`, body)
	require.False(t, rt.directory.IsStandby("n2"))
}

// E11: a copy that was promoted, which the directory could not record, counts as promoted
// the next time, and so does one that a router was killed over.
func TestFailoverGoesOn(t *testing.T) {
	for name, opts := range map[string]Options{"pair": {}, "replicas": {Replicas: true}} {
		t.Run(name, func(t *testing.T) {
			d, store := faultDirectory(t)
			c := newCopyCluster(t, "n1", "n2")
			opts.Directory = d
			rt, addr := c.router(opts)
			if name == "pair" {
				c.pair(addr, "n1", "n2")
			}
			c.create(addr, "acme", "n1")
			idle(t, rt)
			c.change("n1", func(n *copyNode) { n.down = true })
			store.broken = errDisk
			done, err := rt.FailOver(t.Context(), "n1", false)
			require.NoError(t, err)
			require.Empty(t, done.Promoted)
			require.Len(t, done.Failed, 1)
			require.Contains(t, done.Failed[0].Why, "disk full")
			require.False(t, c.file("n2", "acme").following)
			at, _ := rt.directory.Tenant("acme")
			require.Equal(t, "n1", at.Node)
			store.broken = nil
			done, err = rt.FailOver(t.Context(), "n1", false)
			require.NoError(t, err)
			require.Equal(t, []Promoted{{"acme", "n2"}}, done.Promoted)
			require.Empty(t, done.Failed)
			at, _ = rt.directory.Tenant("acme")
			require.Equal(t, "n2", at.Node)
		})
	}
}

// E22, E23: each tenant goes to its own replica, one without stays, and the replicas that
// were on the node are none any more.
func TestFailoverToReplicas(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{Replicas: true})
	c.create(addr, "a", "n1")
	c.create(addr, "b", "n1")
	c.create(addr, "bare", "n1")
	c.create(addr, "other", "n2")
	c.create(addr, "gamma", "n2")
	requireReplicas(t, rt, map[string]string{"a": "n2", "b": "n3", "bare": "n2", "gamma": "n1", "other": "n3"})
	require.NoError(t, rt.directory.setSpare("bare", "n2", ""))
	c.change("n1", func(n *copyNode) { n.down = true })
	status, body := failoverCall(t, addr, "n1")
	require.Equal(t, 502, status)
	require.JSONEq(t, `{"node":"n1","promoted":[{"tenant":"a","to":"n2"},{"tenant":"b","to":"n3"}],
		"failed":[{"tenant":"bare","why":"no replica"}],"unreplicated":["gamma"]}`, body)
	require.True(t, c.write("n2", "a"))
	require.True(t, c.write("n3", "b"))
	requireReplicas(t, rt, map[string]string{"a": "", "b": "", "bare": "", "gamma": "", "other": "n3"})
	require.Equal(t, map[string]spareState{"n1": spareLeft}, spareStates(rt, "gamma"))
	status, body = failoverCall(t, addr, "n1")
	require.Equal(t, 409, status)
	require.Contains(t, body, "no standby")
}

func requireReplicas(t *testing.T, rt *Router, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, at := range rt.directory.Tenants() {
		got[at.Name] = ""
		for _, node := range at.Replicas {
			got[at.Name] += node
		}
	}
	require.Equal(t, want, got)
}

// Of several replicas the one that has come furthest takes over, and one that was promoted
// before comes first. The others follow it then.
func TestFailoverTakesTheBestReplica(t *testing.T) {
	for name, x := range map[string]struct {
		before func(n2, n3, n4 *copyFile)
		down   string
		want   string
	}{
		"the furthest":              {func(_, n3, _ *copyFile) { n3.seq = 9 }, "", "n3"},
		"the first by name":         {func(_, _, _ *copyFile) {}, "", "n2"},
		"of those that answer":      {func(_, n3, n4 *copyFile) { n3.seq, n4.seq = 9, 8 }, "n3", "n4"},
		"one that was promoted":     {func(n2, _, n4 *copyFile) { n2.seq, n4.following = 9, false }, "", "n4"},
		"not one that lacks some":   {func(n2, _, n4 *copyFile) { n2.seq, n2.incomplete, n4.seq = 99, true, 8 }, "", "n4"},
		"not one that is not there": {func(n2, n3, n4 *copyFile) { n2.seq, n3.seq, n4.seq = 7, 8, 9 }, "n4", "n3"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCopyCluster(t, "n1", "n2", "n3", "n4")
			rt, addr := c.router(Options{Replicas: true})
			c.create(addr, "acme", "n1")
			for _, node := range []string{"n3", "n4"} {
				release, err := rt.directory.Claim("acme")
				require.NoError(t, err)
				p, _ := rt.directory.find([]byte("acme"))
				f := rt.copier.newFollowing("acme", p)
				require.NoError(t, f.look(t.Context()))
				require.NoError(t, f.replica(t.Context(), node, false))
				release()
			}
			at, _ := rt.directory.Tenant("acme")
			require.Equal(t, []string{"n2", "n3", "n4"}, at.Replicas)
			c.mu.Lock()
			c.nodes["n1"].down = true
			x.before(c.nodes["n2"].tenants["acme"], c.nodes["n3"].tenants["acme"], c.nodes["n4"].tenants["acme"])
			if x.down != "" {
				c.nodes[x.down].down = true
			}
			c.mu.Unlock()
			done, err := rt.FailOver(t.Context(), "n1", false)
			require.NoError(t, err)
			require.Equal(t, []Promoted{{"acme", x.want}}, done.Promoted)
			if x.down != "" {
				c.change(x.down, func(n *copyNode) { n.down = false })
			}
			require.True(t, c.write(x.want, "acme"))
			idle(t, rt)
			for _, node := range []string{"n2", "n3", "n4"} {
				if node != x.want {
					c.follows("acme", node, x.want)
					require.Equal(t, spareFollows, spareStates(rt, "acme")[node])
				}
			}
		})
	}
}

// A copy that has not caught up yet does not take over by itself: the tenant would be lost.
// Somebody may decide that it is to.
func TestFailoverToAnIncompleteCopy(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{Replicas: true})
	c.create(addr, "acme", "n1")
	c.change("n1", func(n *copyNode) { n.down = true })
	c.change("n2", func(n *copyNode) { n.tenants["acme"].incomplete = true })
	done, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.Equal(t, []Unmoved{{"acme", "node n2: its copy has not caught up yet"}}, done.Failed)
	at, _ := rt.directory.Tenant("acme")
	require.Equal(t, []string{"n2"}, at.Replicas)
	c.change("n2", func(n *copyNode) { n.tenants["acme"].following, n.tenants["acme"].incomplete = false, false })
	done, err = rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.Equal(t, []Promoted{{"acme", "n2"}}, done.Promoted)
}

// The quota that a copy has missed is sent before it is the tenant.
func TestFailoverSendsQuotas(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{Replicas: true})
	c.create(addr, "acme", "n1")
	status, body := shardCall(t, addr, "PUT", "tenants/acme/quota", `{"rows":5}`)
	require.Equal(t, 200, status, body)
	c.change("n1", func(n *copyNode) { n.down = true })
	c.change("n2", func(n *copyNode) { n.tenants["acme"].quota = "" })
	_, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.JSONEq(t, `{"rows":5}`, c.file("n2", "acme").quota)
}

// What a failover cannot wait for costs the others nothing: a node that hangs, and a move
// off the lost node.
func TestFailoverStallsNobody(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{Replicas: true, UpstreamTimeout: 500 * time.Millisecond})
	for i := range 40 {
		c.create(addr, fmt.Sprintf("t%02d", i), "n1")
	}
	hung := make(chan struct{})
	defer close(hung)
	c.change("n1", func(n *copyNode) { n.hung = hung })
	c.change("n3", func(n *copyNode) { n.hung = hung })
	moved := make(chan error, 1)
	go func() {
		_, err := rt.Move(t.Context(), "t00", "n2")
		moved <- err
	}()
	require.Eventually(t, func() bool {
		at, _ := rt.directory.Tenant("t00")
		return at.State == StateMoving
	}, 5*time.Second, time.Millisecond)
	begun := time.Now()
	done, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.Less(t, time.Since(begun), 5*time.Second)
	require.Len(t, done.Promoted, 19, "those of n2, but for the one whose replica made room for a move")
	require.Len(t, done.Failed, 21)
	require.True(t, errors.Is(<-moved, errNodeLost))
}

// A move off the lost node ends, and its tenant is promoted like the others. What the move
// has made elsewhere is cleared away.
func TestFailoverEndsMoves(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	reached := make(chan struct{})
	lost := make(chan struct{})
	opts := Options{}
	opts.step = func(name string) {
		if name == "check" {
			close(reached)
			<-lost
		}
	}
	rt, addr := c.router(opts)
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	moved := make(chan error, 1)
	go func() {
		_, err := rt.Move(t.Context(), "acme", "n3")
		moved <- err
	}()
	<-reached
	require.NotNil(t, c.file("n3", "acme"))
	c.change("n1", func(n *copyNode) { n.down = true })
	over := make(chan FailedOver, 1)
	go func() {
		done, err := rt.FailOver(t.Context(), "n1", false)
		if err != nil {
			panic(err)
		}
		over <- done
	}()
	require.Eventually(t, func() bool {
		rt.mover.mu.Lock()
		defer rt.mover.mu.Unlock()
		return len(rt.mover.moves) == 1
	}, 5*time.Second, time.Millisecond)
	close(lost)
	require.Error(t, <-moved)
	require.Equal(t, []Promoted{{"acme", "n2"}}, (<-over).Promoted)
	idle(t, rt)
	require.Nil(t, c.file("n3", "acme"))
	require.Equal(t, map[string]spareState{"n1": spareLeft}, spareStates(rt, "acme"))
}

// BenchmarkFailover fails a node over whose tenants have replicas on two others.
func BenchmarkFailover(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		d, err := OpenDirectory(b.TempDir() + "/shard.fenec")
		require.NoError(b, err)
		c := newCopyCluster(b, "n1", "n2", "n3")
		rt, addr := c.router(Options{Replicas: true, Directory: d})
		for i := range 100 {
			c.create(addr, fmt.Sprintf("t%02d", i), "n1")
		}
		c.change("n1", func(n *copyNode) { n.down = true })
		b.StartTimer()
		done, err := rt.FailOver(b.Context(), "n1", false)
		b.StopTimer()
		require.NoError(b, err)
		require.Len(b, done.Promoted, 100)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/100, "µs/tenant")
}

// A tenant that the standby has not all of goes to its own replica, if it has one, and the
// pair ends with that.
func TestFailoverOfAPairToReplicas(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3", "n4")
	rt, addr := c.router(Options{})
	for _, name := range []string{"bare", "lacks", "leads", "silent", "whole"} {
		c.create(addr, name, "n1")
		if name != "bare" {
			replicate(t, rt, name, "n3")
		}
	}
	replicate(t, rt, "lacks", "n4")
	c.create(addr, "other", "n3")
	replicate(t, rt, "other", "n1")
	c.pair(addr, "n1", "n2")
	c.change("n1", func(n *copyNode) { n.down = true })
	c.change("n2", func(n *copyNode) {
		n.tenants["bare"].incomplete = true
		n.tenants["lacks"].incomplete = true
		n.tenants["leads"].seq = 9
		n.fault = refusesOn("GET", "silent", "", 500)
	})
	c.change("n3", func(n *copyNode) {
		n.tenants["leads"].following = false // by a failover that did not come to its end
		n.tenants["whole"].seq = 9           // the standby comes first
	})
	c.change("n4", func(n *copyNode) { n.tenants["lacks"].seq = 7 })
	status, body := failoverCall(t, addr, "n1")
	require.Equal(t, 502, status)
	require.JSONEq(t, `{"node":"n1","to":"n2","promoted":["whole"],
		"elsewhere":[{"tenant":"lacks","to":"n4"},{"tenant":"leads","to":"n3"},{"tenant":"silent","to":"n3"}],
		"failed":[{"tenant":"bare","why":"node n2: its copy has not caught up yet"}],"unreplicated":["other"]}`, body)
	require.True(t, rt.directory.IsStandby("n2"), "what is left may be tried again")
	for name, on := range map[string]string{"lacks": "n4", "leads": "n3", "silent": "n3", "whole": "n2"} {
		at, _ := rt.directory.Tenant(name)
		require.Equal(t, on, at.Node)
		require.True(t, c.write(on, name), name)
	}
	require.Equal(t, map[string]spareState{"n1": spareLeft, "n2": spareLeft}, spareStates(rt, "leads"))
	c.change("n2", func(n *copyNode) { n.tenants["bare"].incomplete = false })
	status, body = failoverCall(t, addr, "n1")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"node":"n1","to":"n2","promoted":["bare"],"failed":[]}`, body)
	require.False(t, rt.directory.IsStandby("n2"))
	idle(t, rt)
	c.follows("lacks", "n3", "n4")
	require.Empty(t, rt.Unplaced(t.Context()).Files)
}
