package router_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/router"
	tenants "github.com/fenec-go/fenecdb/tenant/node"
)

// A node as it is writes what a router has granted it: from the moment that a tenant is
// made, with its schema, and until the router has gone for a term.
func TestRealNodeUnderLeases(t *testing.T) {
	n, err := tenants.Open(t.TempDir(), tenants.Options{AdminToken: serve.NewSecret("admin-secret"), Lease: true})
	require.NoError(t, err)
	server := httptest.NewServer(n)
	defer func() { server.Close(); require.NoError(t, n.Close()) }()
	g := startRouter(t, ownFace, router.Options{AutoFailover: 600 * time.Millisecond})
	g.enlist(server)
	const schema = `{"schema":{"format":1,"collections":[{"name":"notes","fields":[{"name":"a","type":"int"}]}]}}`
	status, body := g.call("PUT", "/_shard/tenants/acme", schema)
	require.Equal(t, 201, status, body)
	write := func() (int, string) {
		w := httptest.NewRecorder()
		g.rt.ServeHTTP(w, httptest.NewRequest("POST", "/t/acme/notes", strings.NewReader(`{"a":1}`)))
		return w.Code, w.Body.String()
	}
	status, body = write()
	require.Equal(t, 201, status, body)
	status, body = g.call("GET", "/_metrics", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, `fenec_router_lease_age_seconds{node="n1"} 0.`)

	status, body = g.call("POST", "/_shard/nodes/n1/failover", "")
	require.Equal(t, 409, status, body)
	require.Contains(t, body, "no standby")
	require.Eventually(t, func() bool { status, _ := write(); return status == 201 }, eventually, tick,
		"what could not be failed over stays")

	require.NoError(t, g.rt.Shutdown(context.Background()))
	refused := func() bool { // the write under which the lease runs out is told otherwise
		status, body := write()
		return status == 503 && strings.Contains(body, `"code":"`+problem.NoLease.Code+`"`)
	}
	require.Eventually(t, refused, eventually, tick)
}
