package router

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// drainReport is how far a drain is.
type drainReport struct {
	Node                   string
	Left, Replicas, Moving int
	Failed                 []Unmoved
}

func drainOf(t testing.TB, addr, node string) (r drainReport) {
	t.Helper()
	status, body := shardCall(t, addr, "GET", "nodes/"+node+"/drain", "")
	require.Equal(t, 200, status)
	require.NoError(t, json.Unmarshal([]byte(body), &r), body)
	return r
}

func TestDrain(t *testing.T) {
	n1, n2, n3 := startLocalNode(t, "n1"), startLocalNode(t, "n2"), startLocalNode(t, "n3")
	rt, addr := routerOver(t, Options{}, n1, n2, n3)
	createAll(t, addr, "n1", "a", "b", "c")
	require.NoError(t, rt.Directory().SetAttrs("n3", Attrs{Role: RoleDedicated}))
	require.NoError(t, rt.Directory().SetStatus("b", tenant.Degraded))
	require.Equal(t, drainReport{"n1", 3, 0, 0, []Unmoved{}}, drainOf(t, addr, "n1"))

	status, body := shardCall(t, addr, "POST", "nodes/n1/drain", "")
	require.Equal(t, 202, status, body)
	require.Contains(t, body, `"node":"n1"`)
	eventually(t, func() bool { return drainOf(t, addr, "n1").Left == 0 })
	eventually(t, func() bool { return drainOf(t, addr, "n1").Moving == 0 })
	require.Equal(t, drainReport{"n1", 0, 0, 0, []Unmoved{}}, drainOf(t, addr, "n1"))
	require.NoError(t, rt.Directory().SetStatus("b", tenant.Active))
	requireWhole(t, addr, n2, []*localNode{n1, n3}, "a", "b", "c")

	status, body = shardCall(t, addr, "PUT", "tenants/d", "")
	require.Equal(t, 201, status, body)
	require.True(t, n2.holds(t, "d"), "n1 is empty and takes nothing")
	status, body = shardCall(t, addr, "POST", "nodes/n1/undrain", "")
	require.Equal(t, 204, status, body)
	status, body = shardCall(t, addr, "PUT", "tenants/e", "")
	require.Equal(t, 201, status, body)
	require.True(t, n1.holds(t, "e"))

	for _, path := range []string{"drain", "undrain"} {
		status, _ = shardCall(t, addr, "POST", "nodes/n9/"+path, "")
		require.Equal(t, 404, status)
		status, _ = shardCall(t, addr, "POST", "nodes/N9/"+path, "")
		require.Equal(t, 400, status)
	}
	status, _ = shardCall(t, addr, "GET", "nodes/n9/drain", "")
	require.Equal(t, 404, status)
}

// TestDrainTriesAgain drains a node whose tenants nobody takes at first.
func TestDrainTriesAgain(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	createAll(t, addr, "n1", "a", "b")
	createAll(t, addr, "n2", "c")
	drain := func() {
		t.Helper()
		status, body := shardCall(t, addr, "POST", "nodes/n1/drain", "")
		require.Equal(t, 202, status, body)
	}
	failures := func() (why string) {
		for _, f := range drainOf(t, addr, "n1").Failed {
			why += f.Tenant + ": " + f.Why + "\n"
		}
		return why
	}
	require.NoError(t, rt.Directory().SetAttrs("n2", Attrs{MaxTenants: 1}))
	drain()
	eventually(t, func() bool { return failures() == "a: no node takes another tenant\nb: no node takes another tenant\n" })
	require.Equal(t, 2, drainOf(t, addr, "n1").Left)

	n2.failing(func(w http.ResponseWriter, r *http.Request) bool {
		refuse := r.Method == "PUT" && strings.HasSuffix(r.URL.Path, "/a/file")
		if refuse {
			w.WriteHeader(http.StatusInsufficientStorage)
			fmt.Fprint(w, `{"error":"the disk is full"}`)
		}
		return refuse
	})
	require.NoError(t, rt.Directory().SetAttrs("n2", Attrs{}))
	drain() // asking again tries again at once
	eventually(t, func() bool {
		return strings.Contains(failures(), "the disk is full") && drainOf(t, addr, "n1").Left == 1
	})
	require.NotContains(t, failures(), "b: ", "it was moved after all")

	n1.failing(func(w http.ResponseWriter, r *http.Request) bool {
		silent := strings.HasPrefix(r.URL.Path, "/_admin/s")
		if silent {
			w.WriteHeader(503)
		}
		return silent
	})
	eventually(t, func() bool { drain(); return failures() == "a: node n1 did not answer\n" })
	n2.failing(nil)
	n1.failing(nil)
	eventually(t, func() bool { drain(); return drainOf(t, addr, "n1").Left == 0 })
	eventually(t, func() bool { return drainOf(t, addr, "n1").Moving == 0 })
	require.Empty(t, failures())
	requireWhole(t, addr, n2, []*localNode{n1}, "a", "b", "c")
}

func TestUndrainEndsTheWork(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{Moves: 1}, n1, n2)
	createAll(t, addr, "n1", "a", "b")
	hold, asked := make(chan struct{}), make(chan struct{}, 9)
	n2.failing(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == "PUT" && strings.HasSuffix(r.URL.Path, "/file") {
			asked <- struct{}{}
			<-hold
		}
		return false
	})
	status, body := shardCall(t, addr, "POST", "nodes/n1/drain", "")
	require.Equal(t, 202, status, body)
	<-asked
	require.Equal(t, drainReport{"n1", 2, 0, 1, []Unmoved{}}, drainOf(t, addr, "n1"))
	status, body = shardCall(t, addr, "POST", "nodes/n1/undrain", "")
	require.Equal(t, 204, status, body)
	close(hold)
	rt.fleet.running.Wait()
	require.Equal(t, 1, rt.Directory().Placed("n1"), "the move that ran is finished, and no other begun")
	require.Equal(t, 1, rt.Directory().Placed("n2"))
	require.False(t, rt.Directory().Attrs("n1").Draining)
}

// TestDrainSurvivesTheRouter ends a router in the middle of a drain, and has another one
// go on.
func TestDrainSurvivesTheRouter(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	quiet := log.New(io.Discard, "", 0)
	rt, err := New(Options{Directory: d, ErrorLog: quiet})
	require.NoError(t, err)
	for _, n := range []*localNode{n1, n2} {
		require.NoError(t, d.PutNode(n.Node))
	}
	require.NoError(t, d.SetAttrs("n2", Attrs{Role: RoleDedicated}))
	for _, name := range []string{"a", "b"} {
		_, err := rt.create(context.Background(), creation{tenant: name, node: "n1"})
		require.NoError(t, err)
	}
	_, err = rt.beginDrain("n1")
	require.NoError(t, err)
	require.NoError(t, rt.Shutdown(context.Background()))
	require.NoError(t, d.SetAttrs("n2", Attrs{}))
	require.NoError(t, d.Close())

	d, err = OpenDirectory(path)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	require.Equal(t, 2, d.Placed("n1"))
	routerOver(t, Options{Directory: d}, n1, n2)
	eventually(t, func() bool { return d.Placed("n1") == 0 })
	require.Equal(t, 2, d.Placed("n2"))
}
