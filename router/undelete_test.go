package router

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
)

func undeleteCall(t testing.TB, addr, body string) (int, string) {
	t.Helper()
	return shardCall(t, addr, "POST", "tenants/acme/undelete", body)
}

// forgetMark makes a directory forget which node a deleted tenant was on.
func forgetMark(t testing.TB, d *Directory) {
	t.Helper()
	require.NoError(t, d.store.write(func(r rows) error { return r.all("acme", "del marks where tenant = $1") }))
}

// The router knows where a tenant was that it has deleted, also after a start.
func TestUndelete(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	file := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(file)
	require.NoError(t, err)
	rt, addr := routerOver(t, Options{Directory: d}, n1, n2)
	acmeOn(t, addr, "n2")
	limits := quota.Limits{Rows: 1000}
	_, err = rt.SetQuota(t.Context(), "acme", limits)
	require.NoError(t, err)
	require.NoError(t, rt.Delete(t.Context(), "acme"))
	require.False(t, n2.holds(t, "acme"))
	// One with the same name that was deleted on another node.
	require.NoError(t, rt.admin.create(t.Context(), n1.Node, "acme"))
	require.NoError(t, rt.admin.remove(t.Context(), n1.Node, "acme"))
	require.NoError(t, rt.Shutdown(t.Context()))
	require.NoError(t, d.Close())

	d, err = OpenDirectory(file)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	require.Zero(t, d.Quota("acme"))
	rt, addr = routerOver(t, Options{Directory: d}, n1, n2)
	status, body := undeleteCall(t, addr, "")
	require.Equal(t, 200, status, body)
	require.Regexp(t, `^{"tenant":"acme","node":"n2","seq":\d+,"frozen":false,("role":"primary",)?"quota":{"rows":1000}}$`, body)
	require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
	require.Equal(t, limits, d.Quota("acme"))
	at, _ := d.Tenant("acme")
	require.EqualValues(t, 2, at.Epoch)
	requireSettled(t, rt, addr, n2, n1)
	status, body = undeleteCall(t, addr, "")
	require.Equal(t, 409, status)
	require.Contains(t, body, "tenant exists")
}

func TestUndeleteWithoutTheMark(t *testing.T) {
	for _, c := range []struct {
		name, body string
		both       bool // nodes have it in their trash
		fails      func(n1, n2 *localNode)
		status     int
		says       string
		where      string // "" for nowhere
	}{
		{"one has it", "", false, nil, 200, `"node":"n2"`, "n2"},
		{"both have it", "", true, nil, 409, "several nodes have it, name one: node n1", ""},
		{"both have it, one is named", `{"node":"n1"}`, true, nil, 200, `"node":"n1"`, "n1"},
		{"the other is named", `{"node":"n1"}`, false, nil, 404, "node n1: it is in no trash", ""},
		{"unknown node", `{"node":"n3"}`, false, nil, 404, "unknown node", ""},
		{"one is silent", "", false, func(n1, _ *localNode) { n1.failing(silent) }, 503, "do not say whether they have it: node n1", ""},
		{"one has a file of it", "", false, func(n1, _ *localNode) { n1.failing(failsAt("POST", "/_admin/tenants/acme/undelete", 409)) },
			503, "node n1 answered 409", ""},
		{"one does not say how far it is", "", true, func(_, n2 *localNode) { n2.failing(failsAt("GET", "/_admin/tenants/acme", 500)) },
			503, "node n2 answered 500", ""},
		{"the only one does not tell its quota", "", false, func(_, n2 *localNode) { n2.failing(failsAt("GET", "/_admin/tenants/acme/quota", 500)) },
			502, "node n2 answered 500", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
			rt, addr := routerOver(t, Options{}, n1, n2)
			acmeOn(t, addr, "n2")
			require.NoError(t, rt.Delete(t.Context(), "acme"))
			forgetMark(t, rt.directory)
			if c.both {
				require.NoError(t, rt.admin.create(t.Context(), n1.Node, "acme"))
				require.NoError(t, rt.admin.remove(t.Context(), n1.Node, "acme"))
			}
			if c.fails != nil {
				c.fails(n1, n2)
			}
			status, body := undeleteCall(t, addr, c.body)
			require.Equal(t, c.status, status, body)
			require.Contains(t, body, c.says)
			at, _ := rt.directory.Tenant("acme")
			require.Equal(t, c.where, at.Node)
			require.Equal(t, c.where == "n1", n1.holds(t, "acme"))
			require.Equal(t, c.where == "n2", n2.holds(t, "acme"))
			if c.where == "" {
				n1.failing(nil)
				n2.failing(nil)
				status, body = undeleteCall(t, addr, `{"node":"n2"}`)
				require.Equal(t, 200, status, "it is still in the trash: %s", body)
				require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
			}
		})
	}
}

// What nobody has is in no trash.
func TestUndeleteNobody(t *testing.T) {
	rt, addr := routerOver(t, Options{}, startLocalNode(t, "n1"))
	status, body := undeleteCall(t, addr, "")
	require.Equal(t, 404, status)
	require.Contains(t, body, "tenant acme: it is in no trash")
	status, _ = shardCall(t, addr, "POST", "tenants/Acme/undelete", "")
	require.Equal(t, 400, status)
	require.Empty(t, rt.directory.Tenants())
}

// The directory takes no change: the tenant goes back to where it was.
func TestUndeleteThatIsNotRecorded(t *testing.T) {
	d, s := faultDirectory(t)
	n1 := startLocalNode(t, "n1")
	rt, addr := routerOver(t, Options{Directory: d}, n1)
	acmeOn(t, addr, "n1")
	require.NoError(t, rt.Delete(t.Context(), "acme"))
	writes := 0
	s.onWrite = func() {
		if writes++; writes == 2 { // the first asks for the node
			s.broken = errDisk
		}
	}
	_, err := rt.Undelete(t.Context(), "acme", "")
	require.ErrorIs(t, err, ErrDirectory)
	require.False(t, n1.holds(t, "acme"))
	s.onWrite, s.broken = nil, nil
	_, err = rt.Undelete(t.Context(), "acme", "")
	require.NoError(t, err)
	requireSettled(t, rt, addr, n1)
}

// A stray makes room, or is in the way.
func TestUndeleteOverAStray(t *testing.T) {
	n1 := startLocalNode(t, "n1")
	rt, addr := routerOver(t, Options{}, n1)
	acmeOn(t, addr, "n1")
	require.NoError(t, rt.Delete(t.Context(), "acme"))
	release, err := rt.directory.Claim("acme") // so that the router does not clear it away by itself
	require.NoError(t, err)
	require.NoError(t, rt.admin.create(t.Context(), n1.Node, "acme"))
	require.NoError(t, rt.directory.expect(Stray{Tenant: "acme", Node: "n1"}))
	n1.failing(failsAt("DELETE", "/_admin/tenants/acme", 500))
	release()
	for {
		_, err = rt.Undelete(t.Context(), "acme", "")
		if !errors.Is(err, ErrInProgress) {
			break // the router tries to clear it away by itself, too
		}
	}
	require.ErrorIs(t, err, ErrStray)
	n1.failing(nil)
	for {
		_, err = rt.Undelete(t.Context(), "acme", "")
		if !errors.Is(err, ErrInProgress) {
			break
		}
	}
	require.NoError(t, err)
	require.Empty(t, rt.directory.Strays())
	require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
}
