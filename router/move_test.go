package router

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
)

// acmeOn makes a tenant with ten vectors and their index on a node.
func acmeOn(t testing.TB, addr, node string) {
	t.Helper()
	status, body := shardCall(t, addr, "PUT", "tenants/acme", `{"node":"`+node+`"}`)
	require.Equal(t, 201, status, body)
	mustRun(t, addr, "acme", "create collection docs (n int @hash, v vector<2> @hnsw(l2))")
	for i := range 10 {
		mustRun(t, addr, "acme", fmt.Sprintf("put docs {n: %d, v: [%d, 0]}", i, i))
	}
}

func moveCall(t testing.TB, addr, to string) (int, string) {
	t.Helper()
	return shardCall(t, addr, "POST", "tenants/acme/move", `{"to":"`+to+`"}`)
}

// requireSettled checks that the tenant is at rest on the node, writable, and nowhere else.
func requireSettled(t testing.TB, rt *Router, addr string, on *localNode, others ...*localNode) {
	t.Helper()
	at, _ := rt.directory.Tenant("acme")
	require.Equal(t, on.Name, at.Node)
	require.Equal(t, StateActive, at.State)
	require.Nil(t, at.Move)
	require.True(t, on.holds(t, "acme"))
	for _, n := range others {
		require.False(t, n.holds(t, "acme"), n.Name)
	}
	mustRun(t, addr, "acme", "put docs {n: 99}", "del docs where n = 99")
}

func TestMove(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	require.NoError(t, rt.directory.SetQuota("acme", quota.Limits{Rows: 11}))

	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	var moved map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &moved))
	require.Equal(t, "acme n1 n2 true", fmt.Sprint(moved["tenant"], " ", moved["from"], " ", moved["to"], " ", moved["source_removed"]))
	require.Greater(t, moved["bytes"], 4096.0)
	require.Contains(t, moved, "ms")
	require.Empty(t, rt.directory.Strays())
	require.Contains(t, mustRun(t, addr, "acme", "get n from docs near v [3.1, 0] limit 1"), `"n":3`)
	require.Contains(t, mustRun(t, addr, "acme", "put docs {n: 10}", "get id from docs where n = 10"), `"id":11`, "ids go on")
	status, body = statement(t, addr, "acme", "put docs {n: 11}")
	require.Equal(t, 413, status, "the quota came along: %s", body)
	mustRun(t, addr, "acme", "del docs where n = 10")
	requireSettled(t, rt, addr, n2, n1)

	require.NoError(t, rt.directory.SetQuota("acme", quota.Limits{}))
	_, err := rt.Move(t.Context(), "acme", "n1")
	require.NoError(t, err)
	requireSettled(t, rt, addr, n1, n2)
	at, _ := rt.directory.Tenant("acme")
	require.EqualValues(t, 3, at.Epoch)
	_, metrics := answerOf(t, mustRequest(t, "GET", "http://"+addr+"/_metrics"))
	require.Contains(t, metrics, `fenec_router_moves_total{outcome="done"} 2`)
}

func mustRequest(t testing.TB, method, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	require.NoError(t, err)
	return req
}

// Moves that are refused change nothing and are not counted.
func TestMoveRefused(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"tenants/acme/move", `{"to":"n1"}`, 409, "already"},
		{"tenants/acme/move", `{"to":"n3"}`, 404, "n3"},
		{"tenants/acme/move", `{"to":"N3"}`, 400, "name"},
		{"tenants/beta/move", `{"to":"n2"}`, 404, "unknown"},
		{"tenants/Beta/move", `{"to":"n2"}`, 400, "name"},
		{"tenants/acme/move", `{}`, 400, "to"},
		{"tenants/acme/move", ``, 400, "to"},
		{"tenants/acme/move", `{"to":2}`, 400, "to"},
		{"tenants/acme/move", `{"to":"n2","now":true}`, 400, "now"},
	} {
		status, body := shardCall(t, addr, "POST", c.path, c.body)
		require.Equal(t, c.status, status, "%s: %s", c.body, body)
		require.Contains(t, body, c.says)
	}
	require.NoError(t, rt.directory.SetAttrs("n2", Attrs{Draining: true}))
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 409, status, body)
	require.Contains(t, body, "drained")
	require.NoError(t, rt.directory.SetAttrs("n2", Attrs{}))
	release, err := rt.directory.Claim("acme")
	require.NoError(t, err)
	status, body = moveCall(t, addr, "n2")
	require.Equal(t, 409, status)
	require.Contains(t, body, "in progress")
	release()
	requireSettled(t, rt, addr, n1, n2)
	_, metrics := answerOf(t, mustRequest(t, "GET", "http://"+addr+"/_metrics"))
	require.Contains(t, metrics, `fenec_router_moves_total{outcome="failed"} 0`)
}

// A copy on the target that an earlier attempt has left is replaced, whether the
// directory knows of it or not.
func TestMoveOverACopy(t *testing.T) {
	for _, known := range []bool{true, false} {
		n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
		rt, addr := routerOver(t, Options{}, n1, n2)
		acmeOn(t, addr, "n1")
		require.NoError(t, rt.admin.create(t.Context(), n2.Node, "acme"))
		if known {
			require.NoError(t, rt.directory.endMove("acme", &Stray{Tenant: "acme", Node: "n2"}))
		}
		_, err := rt.Move(t.Context(), "acme", "n2")
		require.NoError(t, err)
		require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
		requireSettled(t, rt, addr, n2, n1)
	}
}

// refuses answers a request of that method and path with a status.
func refuses(method, path string, status int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || r.URL.Path != path {
			return false
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"as told"}`)
		return true
	}
}

// breaks ends the connection instead of answering.
func breaks(method, path string) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == method && r.URL.Path == path {
			panic(http.ErrAbortHandler)
		}
		return false
	}
}

// Whatever fails before the flip leaves the tenant where it was, writable.
func TestMoveFails(t *testing.T) {
	const file, freeze = "/_admin/tenants/acme/file", "/_admin/tenants/acme/freeze"
	short := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != "GET" || r.URL.Path != file {
			return false
		}
		w.Header().Set("Content-Length", "100000")
		w.Write(make([]byte, 1000))
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		source, target func(http.ResponseWriter, *http.Request) bool
		status         int
		says           string
	}{
		"the source is down":                {breaks("POST", freeze), nil, 502, "n1"},
		"the source does not freeze":        {refuses("POST", freeze, 409), nil, 409, "as told"},
		"the source has no image":           {refuses("GET", file, 500), nil, 502, "n1"},
		"the source dies during the image":  {short, nil, 502, "n1"},
		"the target is down":                {nil, breaks("PUT", file), 502, "n2"},
		"the target takes no image so long": {nil, refuses("PUT", file, 413), 413, "as told"},
		"the target finds it damaged":       {nil, refuses("PUT", file, 400), 400, "as told"},
		"the target's copy is in use":       {nil, refuses("PUT", file, 409), 409, "as told"},
		"the target takes no quota":         {nil, refuses("PUT", "/_admin/tenants/acme/quota", 500), 502, "n2"},
	} {
		t.Run(name, func(t *testing.T) {
			n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
			rt, addr := routerOver(t, Options{Hold: -1}, n1, n2)
			acmeOn(t, addr, "n1")
			require.NoError(t, rt.directory.SetQuota("acme", quota.Limits{Rows: 100}))
			n1.failing(c.source)
			n2.failing(c.target)
			status, body := moveCall(t, addr, "n2")
			require.Equal(t, c.status, status, body)
			require.Contains(t, body, c.says)
			requireSettled(t, rt, addr, n1, n2)
			require.Empty(t, rt.directory.Strays())
			_, metrics := answerOf(t, mustRequest(t, "GET", "http://"+addr+"/_metrics"))
			require.Contains(t, metrics, `fenec_router_moves_total{outcome="failed"} 1`)

			n1.failing(nil)
			n2.failing(nil)
			status, body = moveCall(t, addr, "n2")
			require.Equal(t, 200, status, body)
			requireSettled(t, rt, addr, n2, n1)
		})
	}
}

// atStep calls f the first time that a step of that name comes.
func atStep(name string, f func()) func(string) {
	return func(step string) {
		if step == name && f != nil {
			f()
			f = nil
		}
	}
}

// A source that was writable after its image was taken keeps the tenant.
func TestMoveOfABrokenFreeze(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	var addr string
	restart := func() {
		n1.stop()
		n1.start(t)
		mustRun(t, addr, "acme", "put docs {n: 10}")
	}
	thaw := func() {
		require.NoError(t, newAdmin(time.Second).thaw(t.Context(), n1.Node, "acme"))
		mustRun(t, n1.Addr, "acme", "put docs {n: 11}")
	}
	for i, broken := range []func(){restart, thaw} {
		var rt *Router
		rt, addr = routerOver(t, Options{Hold: -1, step: atStep("check", func() { broken() })}, n1, n2)
		if i == 0 {
			acmeOn(t, addr, "n1")
		} else {
			require.NoError(t, rt.directory.Place("acme", n1.Node))
		}
		status, body := moveCall(t, addr, "n2")
		require.Equal(t, 409, status, body)
		require.Contains(t, body, "n1")
		require.Contains(t, mustRun(t, addr, "acme", "get docs count"), fmt.Sprintf(`"count":%d`, 11+i))
		requireSettled(t, rt, addr, n1, n2)
	}
}

// A write that comes between freeze and flip waits for the flip if it may, and is
// refused if not. Reads are served.
func TestMoveHoldsWrites(t *testing.T) {
	for _, hold := range []time.Duration{-1, time.Minute} {
		n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
		var addr string
		wrote := make(chan int, 1)
		reached := func() {
			mustRun(t, addr, "acme", "get docs count")
			write := func() {
				status, body := statement(t, addr, "acme", "put docs {n: 10}")
				if status == 503 {
					require.Contains(t, body, `"retry_after":1`)
				}
				wrote <- status
			}
			if hold > 0 {
				go write()
			} else {
				write()
			}
		}
		rt, at := routerOver(t, Options{Hold: hold, step: atStep("flip", func() { reached() })}, n1, n2)
		addr = at
		acmeOn(t, addr, "n1")
		status, body := moveCall(t, addr, "n2")
		require.Equal(t, 200, status, body)
		want, count := 503, 10
		if hold > 0 {
			want, count = 200, 11
		}
		require.Equal(t, want, <-wrote)
		require.Contains(t, mustRun(t, addr, "acme", "get docs count"), fmt.Sprintf(`"count":%d`, count))
		requireSettled(t, rt, addr, n2, n1)
	}
}

// A flip that the directory refuses, though it may stand in the file, leaves the tenant
// on the source: before it takes a write the target's copy is gone.
func TestMoveWhenTheDirectoryFails(t *testing.T) {
	for _, stands := range []bool{false, true} {
		n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
		path := filepath.Join(t.TempDir(), "shard.fenec")
		s, err := openFile(path, DirectoryOptions{})
		require.NoError(t, err)
		faulty := &faultStore{store: s}
		d, err := newDirectory(faulty)
		require.NoError(t, err)
		rt, addr := routerOver(t, Options{Directory: d, step: atStep("flip", func() {
			faulty.broken = errDisk
			faulty.stands = stands
		})}, n1, n2)
		acmeOn(t, addr, "n1")
		status, body := moveCall(t, addr, "n2")
		require.Equal(t, 500, status, body)
		require.Contains(t, body, "directory")
		require.True(t, n1.holds(t, "acme"))
		require.False(t, n2.holds(t, "acme"))
		mustRun(t, addr, "acme", "put docs {n: 10}")
		require.NoError(t, rt.Shutdown(t.Context()))
		require.NoError(t, d.Close())

		// The next router finds one copy, whatever its file says.
		d, err = OpenDirectory(path)
		require.NoError(t, err)
		rt, addr = routerOver(t, Options{Directory: d}, n1, n2)
		settled := func() bool {
			at, _ := d.Tenant("acme")
			return at.State == StateActive && at.Node == "n1" && len(d.Strays()) == 0
		}
		require.Eventually(t, settled, 20*time.Second, time.Millisecond)
		require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":11`)
		requireSettled(t, rt, addr, n1, n2)
		require.NoError(t, rt.Shutdown(t.Context()))
		require.NoError(t, d.Close())
	}
}

// A copy that the source does not give up is recorded and removed later.
func TestMoveLeavesAStray(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	n1.failing(refuses("DELETE", "/_admin/tenants/acme", 409))
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"source_removed":false`)
	strays := rt.directory.Strays()
	require.Len(t, strays, 1)
	require.True(t, strays[0].is(Stray{Tenant: "acme", Node: "n1"}))
	require.Positive(t, strays[0].Seq)
	require.True(t, n1.holds(t, "acme"))
	_, body = statement(t, n1.Addr, "acme", "put docs {n: 10}")
	require.Contains(t, body, "tenant-frozen")
	n1.failing(nil)
	rt.reconciler.kick()
	require.Eventually(t, func() bool { return len(rt.directory.Strays()) == 0 }, 20*time.Second, time.Millisecond)
	requireSettled(t, rt, addr, n2, n1)
}

// A source that has taken a write since its image was taken is not removed, even when
// that shows after the flip only.
func TestMoveLeavesADivergedSource(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{step: atStep("flip", func() {
		n1.stop()
		n1.start(t)
		mustRun(t, n1.Addr, "acme", "put docs {n: 10}")
	})}, n1, n2)
	acmeOn(t, addr, "n1")
	moved, err := rt.Move(t.Context(), "acme", "n2")
	require.NoError(t, err)
	require.False(t, moved.SourceRemoved)
	require.True(t, n1.holds(t, "acme"))
	require.ErrorIs(t, rt.mover.clear(t.Context(), rt.directory.Strays()[0]), errNewer)
	require.True(t, n1.holds(t, "acme"))
	require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
}

// A copy is removed only if the tenant has one at least as new elsewhere.
func TestClear(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	stray := Stray{Tenant: "acme", Node: "n2"}
	_, err := rt.admin.transfer(t.Context(), n1.Node, n2.Node, "acme")
	require.NoError(t, err)
	mustRun(t, n2.Addr, "acme", "put docs {n: 10}")
	require.NoError(t, rt.directory.endMove("acme", &stray))
	require.ErrorIs(t, rt.mover.clear(t.Context(), stray), errNewer)
	require.True(t, n2.holds(t, "acme"))

	n1.failing(breaks("GET", "/_admin/tenants/acme"))
	require.ErrorAs(t, rt.mover.clear(t.Context(), stray), new(*NodeError))
	n1.failing(nil)
	mustRun(t, addr, "acme", "put docs {n: 10}", "put docs {n: 11}")
	require.NoError(t, rt.mover.clear(t.Context(), stray))
	requireSettled(t, rt, addr, n1, n2)

	_, err = rt.admin.transfer(t.Context(), n1.Node, n2.Node, "acme")
	require.NoError(t, err)
	require.NoError(t, rt.directory.endMove("acme", &stray))
	require.NoError(t, rt.admin.purge(t.Context(), n1.Node, "acme"))
	require.NoError(t, rt.mover.clear(t.Context(), stray), "it is the only copy")
	require.NoError(t, rt.mover.clear(t.Context(), Stray{Tenant: "acme", Node: "n1"}))
	require.Empty(t, rt.directory.Strays())
	requireSettled(t, rt, addr, n2, n1)

	require.NoError(t, rt.directory.endMove("acme", &Stray{Tenant: "acme", Node: "n1"}))
	require.NoError(t, rt.directory.Forget("acme"))
	require.NoError(t, rt.mover.clear(t.Context(), Stray{Tenant: "acme", Node: "n1"}), "there is nothing")
	require.Empty(t, rt.directory.Strays())
}

// An unfinished move that shows that its flip had happened is finished: the directory
// is older than the nodes.
func TestResume(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, rt *Router, n1, n2 *localNode)
		on     string
		rows   int
	}{
		"nothing was copied": {func(*testing.T, *Router, *localNode, *localNode) {}, "n1", 10},
		"it was copied":      {copyOver, "n1", 10},
		"and the source was written to": {func(t *testing.T, rt *Router, n1, n2 *localNode) {
			copyOver(t, rt, n1, n2)
			mustRun(t, n1.Addr, "acme", "put docs {n: 10}")
		}, "n1", 11},
		"and the target was written to": {func(t *testing.T, rt *Router, n1, n2 *localNode) {
			copyOver(t, rt, n1, n2)
			mustRun(t, n2.Addr, "acme", "put docs {n: 10}")
		}, "n2", 11},
		"and both were, the source in earnest": {func(t *testing.T, rt *Router, n1, n2 *localNode) {
			copyOver(t, rt, n1, n2)
			mustRun(t, n1.Addr, "acme", "put docs {n: 10}")
			mustRun(t, n2.Addr, "acme", "put docs [{n: 11}, {n: 12}]")
		}, "n1", 11},
		"and the source was removed": {func(t *testing.T, rt *Router, n1, n2 *localNode) {
			copyOver(t, rt, n1, n2)
			require.NoError(t, rt.admin.purge(t.Context(), n1.Node, "acme"))
		}, "n2", 10},
	} {
		t.Run(name, func(t *testing.T) {
			n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
			rt, addr := routerOver(t, Options{}, n1, n2)
			acmeOn(t, addr, "n1")
			require.NoError(t, rt.directory.beginMove("acme", "n2"))
			stands, err := rt.admin.standing(t.Context(), n1.Node, "acme")
			require.NoError(t, err)
			require.NoError(t, rt.directory.frozenAt("acme", stands.Seq))
			c.change(t, rt, n1, n2)
			n2.failing(breaks("POST", "/_admin/tenants/acme/freeze"))
			require.ErrorAs(t, rt.mover.resume(t.Context(), "acme"), new(*NodeError), "silence is not absence")
			n2.failing(nil)
			require.NoError(t, rt.mover.resume(t.Context(), "acme"))
			for _, s := range rt.directory.Strays() {
				require.NoError(t, rt.mover.clear(t.Context(), s))
			}
			require.Contains(t, mustRun(t, addr, "acme", "get docs count"), fmt.Sprintf(`"count":%d`, c.rows))
			on, other := n1, n2
			if c.on == "n2" {
				on, other = n2, n1
			}
			requireSettled(t, rt, addr, on, other)
		})
	}
}

func copyOver(t *testing.T, rt *Router, n1, n2 *localNode) {
	t.Helper()
	_, err := rt.admin.transfer(t.Context(), n1.Node, n2.Node, "acme")
	require.NoError(t, err)
}

// Two nodes that are one server have one copy, which nothing takes for another.
func TestOneServerTwice(t *testing.T) {
	n1 := startLocalNode(t, "n1")
	rt, addr := routerOver(t, Options{}, n1)
	acmeOn(t, addr, "n1")
	status, body := shardCall(t, addr, "PUT", "nodes/n2", fmt.Sprintf(`{"addr":%q,"token":%q}`, n1.Addr, clusterAdmin))
	require.Equal(t, 409, status, body)
	require.Contains(t, body, "n1")
	status, body = shardCall(t, addr, "PUT", "nodes/n1", fmt.Sprintf(`{"addr":%q,"token":%q}`, n1.Addr, clusterAdmin))
	require.Equal(t, 201, status, body)

	twin := n1.Node // which was recorded before the two were one
	twin.Name = "n2"
	require.NoError(t, rt.directory.PutNode(twin))
	status, body = moveCall(t, addr, "n2")
	require.Equal(t, 409, status, body)
	require.Contains(t, body, "same server")
	requireSettled(t, rt, addr, n1)

	stray := Stray{Tenant: "acme", Node: "n2"}
	require.NoError(t, rt.directory.endMove("acme", &stray))
	require.NoError(t, rt.mover.clear(t.Context(), stray))
	require.Empty(t, rt.directory.Strays())
	requireSettled(t, rt, addr, n1)

	require.NoError(t, rt.directory.beginMove("acme", "n2"))
	require.NoError(t, rt.directory.frozenAt("acme", 5))
	require.NoError(t, rt.mover.resume(t.Context(), "acme"))
	requireSettled(t, rt, addr, n1)
	require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
}

// Between check and flip nothing that may write reaches the source, not even when the
// source would take it: it would be lost by the flip.
func TestMoveIsSealed(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	var rt *Router
	var addr string
	thawed := func() {
		require.NoError(t, rt.admin.thaw(t.Context(), n1.Node, "acme"))
		status, body := statement(t, addr, "acme", "put docs {n: 10}")
		require.Equal(t, 503, status, body)
		require.Contains(t, body, "tenant-frozen")
		require.Contains(t, body, `"retry_after":1`)
	}
	rt, addr = routerOver(t, Options{Hold: -1, step: atStep("flip", func() { thawed() })}, n1, n2)
	acmeOn(t, addr, "n1")
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
	requireSettled(t, rt, addr, n2, n1)
}

// A tenant that is deleted in the middle of a move leaves nothing on the target.
func TestDeleteInAMove(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	require.NoError(t, rt.directory.beginMove("acme", "n2"))
	require.NoError(t, rt.directory.frozenAt("acme", 5))
	copyOver(t, rt, n1, n2)
	status, body := shardCall(t, addr, "DELETE", "tenants/acme", "")
	require.Equal(t, 204, status, body)
	require.Empty(t, rt.directory.Strays())
	require.False(t, n1.holds(t, "acme"))
	require.False(t, n2.holds(t, "acme"))
}

// A request that is held for a row goes to the target with the tenant.
func TestMoveOfAHeldRequest(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{Hold: 20 * time.Second}, n1, n2)
	acmeOn(t, addr, "n1")
	claimed := make(chan string, 1)
	go func() {
		req, err := http.NewRequest("POST", "http://"+addr+"/t/acme/query",
			strings.NewReader(`{"query":"set docs {n: 100} where n = 50 limit 1 returning n"}`))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Authorization", "Bearer "+clusterData)
		req.Header.Set("Fenec-Wait", "20000")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		claimed <- string(b)
	}()
	held := func() bool {
		_, body := answerOf(t, mustRequest(t, "GET", "http://"+n1.Addr+"/_admin/open"))
		return body != ""
	}
	require.Eventually(t, held, 5*time.Second, time.Millisecond)
	moved, err := rt.Move(t.Context(), "acme", "n2")
	require.NoError(t, err)
	require.True(t, moved.SourceRemoved)
	require.Less(t, moved.MS, int64(4000))
	mustRun(t, addr, "acme", "put docs {n: 50}")
	require.Contains(t, <-claimed, `"n":100`)
}

// Shutdown ends a move, which is backed out.
func TestShutdownEndsAMove(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	var rt *Router
	rt, addr := routerOver(t, Options{step: atStep("install", func() { rt.reconciler.stop() })}, n1, n2)
	acmeOn(t, addr, "n1")
	_, err := rt.Move(t.Context(), "acme", "n2")
	require.Error(t, err)
	require.True(t, errors.Is(err, ErrClosed) || strings.Contains(err.Error(), "closed"), err)
	requireSettled(t, rt, addr, n1, n2)
}
