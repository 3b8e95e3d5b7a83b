package router

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rebalanceReport is how far a rebalance is.
type rebalanceReport struct {
	Planned, Running, Done int
	Failed                 []Unmoved
}

func rebalanceOf(t testing.TB, addr string) (r rebalanceReport) {
	t.Helper()
	status, body := shardCall(t, addr, "GET", "rebalance", "")
	require.Equal(t, 200, status)
	require.NoError(t, json.Unmarshal([]byte(body), &r), body)
	return r
}

// createAll creates tenants on a node, each with a row that says its name.
func createAll(t testing.TB, addr, node string, tenants ...string) {
	t.Helper()
	for _, name := range tenants {
		status, body := shardCall(t, addr, "PUT", "tenants/"+name,
			fmt.Sprintf(`{"node":%q,"schema":{"format":1,"fenecql":"create collection notes (title text)"}}`, node))
		require.Equal(t, 201, status, body)
		mustRun(t, addr, name, fmt.Sprintf("put notes {title: %q}", name))
	}
}

// requireWhole asserts that tenants have their rows, and are on a node and on no other.
func requireWhole(t testing.TB, addr string, on *localNode, others []*localNode, tenants ...string) {
	t.Helper()
	for _, name := range tenants {
		require.Contains(t, mustRun(t, addr, name, "get notes"), `"title":"`+name+`"`)
		require.True(t, on.holds(t, name), name)
		for _, n := range others {
			require.False(t, n.holds(t, name), "%s on %s", name, n.Name)
		}
	}
}

// eventually asks again and again until it is so.
func eventually(t testing.TB, so func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !so(); <-tick.C {
		require.True(t, time.Now().Before(end), "it is not so after 20 s")
	}
}

func TestRebalance(t *testing.T) {
	n1, n2, n3 := startLocalNode(t, "n1"), startLocalNode(t, "n2"), startLocalNode(t, "n3")
	rt, addr := routerOver(t, Options{}, n1, n2, n3)
	createAll(t, addr, "n1", "a", "b", "c", "d")
	require.Equal(t, rebalanceReport{Failed: []Unmoved{}}, rebalanceOf(t, addr), "there was none")

	var plan proposals
	ask := func(method, path, body string, want int) {
		t.Helper()
		plan = proposals{}
		status, text := shardCall(t, addr, method, path, body)
		require.Equal(t, want, status, text)
		require.NoError(t, json.Unmarshal([]byte(text), &plan), text)
	}
	ask("GET", "plan", "", 200)
	require.Equal(t, proposals{[]proposal{}, []Unmoved{}, []string{}, assumedRate, false}, plan, "what there is is not worth a move")

	status, body := shardCall(t, addr, "PUT", "nodes/n1/attrs", `{"max_tenants":2}`)
	require.Equal(t, 200, status, body)
	status, body = shardCall(t, addr, "PUT", "nodes/n3/attrs", `{"role":"dedicated"}`)
	require.Equal(t, 200, status, body)
	for _, try := range []struct{ method, path, body string }{
		{"GET", "plan", ""}, {"POST", "rebalance", ""}, {"POST", "rebalance", `{"dry_run":true}`}, {"POST", "rebalance", `{"dry_run":null}`},
	} {
		ask(try.method, try.path, try.body, 200)
		require.Len(t, plan.Moves, 2)
		for _, m := range plan.Moves {
			require.Equal(t, "n1", m.From)
			require.Equal(t, "n2", m.To)
			require.Equal(t, whyMaxTenants, m.Why)
			require.Positive(t, m.Bytes)
			require.Equal(t, seconds(m.Bytes, assumedRate), m.Seconds)
		}
	}
	require.Equal(t, 4, rt.Directory().Placed("n1"), "so far nothing has moved")
	for _, body := range []string{`{"dry_run":"no"}`, `{"dry":false}`} {
		status, _ := shardCall(t, addr, "POST", "rebalance", body)
		require.Equal(t, 400, status, body)
	}

	ask("POST", "rebalance", `{"dry_run":false}`, 202)
	require.Len(t, plan.Moves, 2)
	eventually(t, func() bool { return rebalanceOf(t, addr).Done == 2 })
	require.Equal(t, rebalanceReport{Planned: 2, Done: 2, Failed: []Unmoved{}}, rebalanceOf(t, addr))
	requireWhole(t, addr, n2, []*localNode{n1, n3}, plan.Moves[0].Tenant, plan.Moves[1].Tenant)
	ask("GET", "plan", "", 200)
	require.Empty(t, plan.Moves)
}

// TestRebalanceFails has targets refuse what they are given.
func TestRebalanceFails(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	_, addr := routerOver(t, Options{Moves: 1}, n1, n2)
	createAll(t, addr, "n1", "a", "b")
	hold, asked := make(chan struct{}), make(chan struct{}, 9)
	n2.failing(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != "PUT" || !strings.HasSuffix(r.URL.Path, "/file") {
			return false
		}
		asked <- struct{}{}
		<-hold
		w.WriteHeader(http.StatusInsufficientStorage)
		fmt.Fprint(w, `{"error":"the disk is full"}`)
		return true
	})
	status, body := shardCall(t, addr, "PUT", "nodes/n1/attrs", `{"max_bytes":1}`)
	require.Equal(t, 200, status, body)
	status, body = shardCall(t, addr, "POST", "rebalance", `{"dry_run":false}`)
	require.Equal(t, 202, status, body)
	<-asked
	require.Equal(t, rebalanceReport{Planned: 2, Running: 1, Failed: []Unmoved{}}, rebalanceOf(t, addr), "one at a time")
	status, body = shardCall(t, addr, "POST", "rebalance", `{"dry_run":false}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "in progress")
	close(hold)
	eventually(t, func() bool { return len(rebalanceOf(t, addr).Failed) == 2 })
	report := rebalanceOf(t, addr)
	require.Equal(t, "a", report.Failed[0].Tenant)
	require.Contains(t, report.Failed[0].Why, "the disk is full")
	require.Zero(t, report.Running)
	requireWhole(t, addr, n1, nil, "a", "b")

	n2.failing(nil)
	eventually(t, func() bool {
		status, _ := shardCall(t, addr, "POST", "rebalance", `{"dry_run":false}`)
		return status == 202
	})
	eventually(t, func() bool { return rebalanceOf(t, addr).Done == 2 })
	requireWhole(t, addr, n2, []*localNode{n1}, "a", "b")
}

// TestPlanAsItWas has a plan carried out after what it was made for has changed.
func TestPlanAsItWas(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	createAll(t, addr, "n1", "a", "b")
	createAll(t, addr, "n2", "c")
	require.NoError(t, rt.Directory().SetAttrs("n2", Attrs{MaxTenants: 2}))
	to := newProgress(4)
	rt.fleet.carryOut(rt.fleet.ctx, []proposal{
		{Tenant: "c", From: "n1", To: "n2"}, {Tenant: "gone", From: "n1", To: "n2"},
		{Tenant: "a", From: "n1", To: "n2"}, {Tenant: "b", From: "n1", To: "n2"},
	}, to)
	require.Equal(t, 1, to.done)
	require.Len(t, to.failed, 3)
	require.Contains(t, to.failed["c"], "no longer on node n1")
	require.Contains(t, to.failed["gone"], "no longer on node n1")
	require.Equal(t, 2, rt.Directory().Placed("n2"), "one of a and b")
	require.NoError(t, rt.Directory().SetAttrs("n2", Attrs{Role: RoleDedicated}))
	left := rt.Directory().Tenants()[0]
	if left.Node != "n1" {
		left = rt.Directory().Tenants()[1]
	}
	rt.fleet.carryOut(rt.fleet.ctx, []proposal{{Tenant: left.Name, From: "n1", To: "n2"}}, to)
	require.Contains(t, to.failed[left.Name], "no longer takes it")
}

func TestRate(t *testing.T) {
	var r rate
	for _, c := range []struct {
		bytes    int64
		took     time.Duration
		want     int64
		measured bool
	}{
		{0, 0, assumedRate, false},
		{enoughMoved - 1, time.Second, assumedRate, false},
		{1, time.Second, enoughMoved / 2, true},
		{enoughMoved, 2 * time.Second, enoughMoved / 2, true},
	} {
		r.note(c.bytes, c.took)
		got, measured := r.perSecond()
		require.Equal(t, c.want, got)
		require.Equal(t, c.measured, measured)
	}
	require.Equal(t, 0.0, seconds(0, 100))
	require.Equal(t, 0.01, seconds(1, 1000))
	require.Equal(t, 2.5, seconds(250, 100))
}
