package node_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// A tenant whose disk refuses writes shows, and is served again afterwards.
func TestADiskThatRefuses(t *testing.T) {
	refuses := true
	n, _ := manage(t, tenant.Options{OnOpen: func(id tenant.ID, db *fenec.DB) error {
		if id.String() == "acme" && refuses {
			db.SetHook(func(*fenec.RowChange) error { return fenec.ErrFailed })
		}
		return nil
	}})
	refuses = false // from the next open on
	require.Contains(t, figures(n), "\nfenec_tenants_degraded 0\n")
	require.NotEqual(t, 201, send(n, "POST", "/t/acme/notes", `{"who":"a"}`).Code)
	var list []struct{ Name string }
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/degraded", "", &list))
	require.Len(t, list, 1)
	require.Equal(t, "acme", list[0].Name)
	require.Contains(t, figures(n), "\nfenec_tenants_degraded 1\n")
	require.Equal(t, 200, send(n, "GET", "/t/acme/notes", "").Code, "it is read all the same")
	closed := func() bool { return len(n.Tenants().Degraded()) == 0 }
	require.Eventually(t, closed, 10*time.Second, 10*time.Millisecond, "in the background, within a second")
	require.Equal(t, 201, send(n, "POST", "/t/acme/notes", `{"who":"a"}`).Code)
}

// figures returns what the node tells of itself.
func figures(n *node.Node) string {
	w := httptest.NewRecorder()
	n.ServeHTTP(w, httptest.NewRequest("GET", "/_metrics", nil))
	return w.Body.String()
}

// A copy for which the disk does not take the image that it needs shows.
func TestADiskThatRefusesAnImage(t *testing.T) {
	n1, n2 := startPeer(t), startPeer(t)
	n1.create("acme")
	n2.create("acme")
	inTheWay := filepath.Join(n2.dir, "acme.fenec.importing")
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	n2.follow("acme", n1)
	degraded := func() (list []struct{ Name, Error string }) {
		require.Equal(t, 200, admin(t, n2.node, "GET", "/_admin/degraded", "", &list))
		return list
	}
	eventually(t, func() bool { return len(degraded()) == 1 }, "it shows")
	require.Equal(t, "acme", degraded()[0].Name)
	require.Contains(t, degraded()[0].Error, "the image could not be stored")
	require.Contains(t, figures(n2.node), "\nfenec_tenants_degraded 1\n")
	require.NoError(t, os.RemoveAll(inTheWay))
	n2.again()
	n2.level("acme", n1)
	require.Empty(t, degraded())
}
