package router

import (
	"bytes"
	"context"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// A directory that takes no changes shows: in the readiness, the metrics and the log.
func TestDirectoryInTrouble(t *testing.T) {
	d, s := faultDirectory(t)
	n := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n))
	require.NoError(t, d.Place("acme", n))
	var logged bytes.Buffer
	rt, err := New(Options{Directory: d, ErrorLog: log.New(&logged, "", 0)})
	require.NoError(t, err)
	defer rt.Shutdown(context.Background())
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code, w.Body.String()
	}
	requireTrouble := func(in bool, lines int) {
		t.Helper()
		status, body := get("/_ready")
		_, metrics := get("/_metrics")
		if in {
			require.Equal(t, 503, status)
			require.Contains(t, body, "directory")
			require.Contains(t, metrics, "\nfenec_router_directory_failing 1\n")
		} else {
			require.Equal(t, 200, status)
			require.Contains(t, metrics, "\nfenec_router_directory_failing 0\n")
		}
		status, _ = get("/_health")
		require.Equal(t, 200, status)
		require.Equal(t, lines, strings.Count(logged.String(), "directory"), logged.String())
	}
	requireTrouble(false, 0)
	s.broken = errDisk
	require.ErrorIs(t, d.SetStatus("nobody", tenant.Active), ErrUnknownTenant)
	requireTrouble(false, 0)
	for range 3 {
		require.Error(t, d.SetStatus("acme", tenant.Active))
		requireTrouble(true, 1)
	}
	require.Contains(t, logged.String(), "disk full")
	s.broken = nil
	requireTrouble(true, 1)
	require.NoError(t, d.SetStatus("acme", tenant.Active))
	requireTrouble(false, 2)
}
