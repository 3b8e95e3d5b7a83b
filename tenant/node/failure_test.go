package node_test

import (
	"net/http/httptest"
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
