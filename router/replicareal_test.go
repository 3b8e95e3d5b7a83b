package router

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	fenecclient "github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// replicating makes a node one whose tenants are replicated.
func replicating(o *node.Options) {
	o.ReplicationToken = fenecclient.NewSecret("r")
	o.Tenants.DB.Sync = fenec.SyncAlways
}

// standbyOf makes a node the standby of another.
func standbyOf(of *localNode) func(*node.Options) {
	return func(o *node.Options) { o.ReplicaOf = "http://" + of.Addr }
}

// on asks a node for a tenant past the router.
func (n *localNode) on(t testing.TB, tenant, text string) (int, string) {
	return statement(t, n.Addr, tenant, text)
}

// stands returns how a node says that a tenant stands there.
func (n *localNode) stands(t testing.TB, tenant string) (s standing) {
	t.Helper()
	req := mustRequest(t, "GET", "http://"+n.Addr+"/_admin/tenants/"+tenant)
	req.Header.Set("Authorization", "Bearer "+clusterAdmin)
	status, body := answerOf(t, req)
	if status == 200 {
		require.NoError(t, json.Unmarshal([]byte(body), &s))
	}
	return s
}

// requireRows waits until a node's copy has that many rows.
func (n *localNode) requireRows(t testing.TB, tenant string, rows int) {
	t.Helper()
	want := fmt.Sprintf(`"count":%d`, rows)
	has := func() bool {
		status, body := n.on(t, tenant, "get docs count")
		return status == 200 && strings.Contains(body, want)
	}
	require.Eventually(t, has, 20*time.Second, 5*time.Millisecond)
}

func pairCall(t testing.TB, addr string, n *localNode, standby string) string {
	t.Helper()
	status, body := shardCall(t, addr, "PUT", "nodes/"+n.Name,
		fmt.Sprintf(`{"addr":%q,"token":%q,"standby":%q}`, n.Addr, clusterAdmin, standby))
	require.Equal(t, 201, status, body)
	return body
}

// E1, E2, E8, E12, E13, E14: a pair from its beginning to the reversed one.
func TestRealPair(t *testing.T) {
	n1 := startLocalNode(t, "n1", replicating)
	n2 := startLocalNode(t, "n2", replicating, standbyOf(n1))
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	require.JSONEq(t, `{"node":"n1","unreplicated":[]}`, pairCall(t, addr, n1, "n2"))
	status, body := shardCall(t, addr, "PUT", "tenants/beta", `{"node":"n1"}`)
	require.Equal(t, 201, status)
	require.JSONEq(t, `{"tenant":"beta","node":"n1"}`, body)
	mustRun(t, addr, "beta", "create collection docs (n int)", "put docs {n: 1}")
	n2.requireRows(t, "acme", 10)
	n2.requireRows(t, "beta", 1)
	status, _ = n2.on(t, "acme", "put docs {n: 1}")
	require.Equal(t, 403, status)

	n1.stop()
	status, body = shardCall(t, addr, "POST", "nodes/n1/failover", "")
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"node":"n1","to":"n2","promoted":["acme","beta"],"failed":[]}`, body)
	mustRun(t, addr, "acme", "put docs {n: 11}")
	require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":11`)
	status, body = shardCall(t, addr, "PUT", "tenants/gamma", "")
	require.Equal(t, 201, status)
	require.JSONEq(t, `{"tenant":"gamma","node":"n2"}`, body)
	mustRun(t, addr, "gamma", "create collection docs (n int)", "put docs {n: 1}") // though n2 is told still to follow

	n2.stop()
	n2.start(t)
	mustRun(t, addr, "acme", "put docs {n: 12}")
	mustRun(t, addr, "gamma", "put docs {n: 2}")

	n1.opts.ReplicaOf = "http://" + n2.Addr
	n1.start(t)
	status, _ = n1.on(t, "acme", "get docs count")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"node":"n2","unreplicated":[]}`, pairCall(t, addr, n2, "n1"))
	n1.requireRows(t, "acme", 12)
	n1.requireRows(t, "gamma", 2)
	mustRun(t, addr, "acme", "put docs {n: 13}")
	n1.requireRows(t, "acme", 13)
	status, _ = n1.on(t, "acme", "put docs {n: 1}")
	require.Equal(t, 403, status)
	require.Empty(t, rt.directory.Strays())
}

// E18, E21, E22, E24: replicas from their beginning to a failover and a repair.
func TestRealReplicas(t *testing.T) {
	var nodes []*localNode
	for _, name := range []string{"n1", "n2", "n3"} {
		nodes = append(nodes, startLocalNode(t, name, replicating))
	}
	rt, addr := routerOver(t, Options{Replicas: true}, nodes...)
	n1, n2 := nodes[0], nodes[1]
	acmeOn(t, addr, "n1")
	at, _ := rt.directory.Tenant("acme")
	require.Equal(t, []string{"n2"}, at.Replicas)
	n2.requireRows(t, "acme", 10)
	require.Equal(t, "http://"+n1.Addr, n2.stands(t, "acme").Follows)

	n2.stop()
	n2.start(t)
	mustRun(t, addr, "acme", "put docs {n: 10}")
	n2.requireRows(t, "acme", 11)

	n1.stop()
	status, body := shardCall(t, addr, "POST", "nodes/n1/failover", "")
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"node":"n1","promoted":[{"tenant":"acme","to":"n2"}],"failed":[],"unreplicated":[]}`, body)
	mustRun(t, addr, "acme", "put docs {n: 11}")

	n1.start(t)
	status, body = shardCall(t, addr, "POST", "replicas", "")
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"replicated":[{"tenant":"acme","replica":"n1"}],"failed":[]}`, body)
	n1.requireRows(t, "acme", 12)
	status, _ = n1.on(t, "acme", "put docs {n: 1}")
	require.Equal(t, 403, status)
	require.Contains(t, mustRun(t, addr, "acme", "get n from docs near v [3.1, 0] limit 1"), `"n":3`)
}

// M21, M22: moves of a tenant that has a replica, to a node without one and to its own.
func TestRealMoveWithAReplica(t *testing.T) {
	n1, n2, n3 := startLocalNode(t, "n1", replicating), startLocalNode(t, "n2", replicating), startLocalNode(t, "n3", replicating)
	rt, addr := routerOver(t, Options{}, n1, n2, n3)
	acmeOn(t, addr, "n1")
	replicate(t, rt, "acme", "n3")
	n3.requireRows(t, "acme", 10)
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"replica_on":"n3"`)
	require.Equal(t, "http://"+n2.Addr, n3.stands(t, "acme").Follows)
	mustRun(t, addr, "acme", "put docs {n: 10}")
	n3.requireRows(t, "acme", 11)

	status, body = moveCall(t, addr, "n3")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"replica_on":"n1"`)
	mustRun(t, addr, "acme", "put docs {n: 11}")
	n1.requireRows(t, "acme", 12)
	require.False(t, n2.holds(t, "acme"))
	require.Empty(t, rt.directory.Strays())
}

// A replica that has not caught up does not take over until somebody says so.
func TestRealIncompleteReplica(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1", replicating), startLocalNode(t, "n2", replicating)
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	n1.failing(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "_replication") {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	replicate(t, rt, "acme", "n2")
	n1.stop()
	done, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.Len(t, done.Failed, 1)
	require.Contains(t, done.Failed[0].Why, "not caught up")
	n1.failing(nil)
	n1.start(t)
	n2.requireRows(t, "acme", 10)
	n1.stop()
	done, err = rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.Equal(t, []Promoted{{"acme", "n2"}}, done.Promoted)
}

// BenchmarkRealFailover fails a node over whose tenants have replicas on two others, and
// repairs what is left.
func BenchmarkRealFailover(b *testing.B) {
	const tenants = 50
	quiet := log.New(io.Discard, "", 0)
	var over, repaired time.Duration
	for b.Loop() {
		var nodes []*localNode
		for _, name := range []string{"n1", "n2", "n3"} {
			nodes = append(nodes, startLocalNode(b, name, replicating))
		}
		d, err := OpenDirectory(filepath.Join(b.TempDir(), "shard.fenec"))
		require.NoError(b, err)
		rt, addr := routerOver(b, Options{Replicas: true, Directory: d, ErrorLog: quiet}, nodes...)
		for i := range tenants {
			name := fmt.Sprintf("t%02d", i)
			status, body := shardCall(b, addr, "PUT", "tenants/"+name, `{"node":"n1"}`)
			require.Equal(b, 201, status, body)
			mustRun(b, addr, name, "create collection docs (n int)", "put docs {n: 1}")
			at, _ := d.Tenant(name)
			for _, n := range nodes {
				if n.Name == at.Replicas[0] {
					n.requireRows(b, name, 1)
				}
			}
		}
		nodes[0].stop()
		begun := time.Now()
		done, err := rt.FailOver(b.Context(), "n1", false)
		over += time.Since(begun)
		require.NoError(b, err)
		require.Len(b, done.Promoted, tenants)
		nodes[0].start(b)
		begun = time.Now()
		require.Empty(b, rt.Repair(b.Context()).Failed)
		repaired += time.Since(begun)
	}
	b.ReportMetric(over.Seconds()*1e3/float64(b.N)/tenants, "ms-failover/tenant")
	b.ReportMetric(repaired.Seconds()*1e3/float64(b.N)/tenants, "ms-repair/tenant")
}
