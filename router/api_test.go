package router

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

func TestCreateByCall(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	schema := json.RawMessage(`{"format":1,"fenecql":"create collection docs (n int)"}`)
	made, err := rt.Create(t.Context(), "acme", NewTenant{Node: "n2", Schema: schema, Quota: quota.Limits{Rows: 5}})
	require.NoError(t, err)
	require.Equal(t, "n2", made.Node)
	require.Contains(t, string(made.Schema), `"applied":true`)
	mustRun(t, addr, "acme", "put docs {n: 1}")
	require.EqualValues(t, 5, rt.directory.Quota("acme").Rows)

	made, err = rt.Create(t.Context(), "beta", NewTenant{})
	require.NoError(t, err)
	require.Equal(t, Created{Node: "n1"}, made)

	for name, c := range map[string]struct {
		tenant string
		as     NewTenant
		err    error
	}{
		"exists":       {"acme", NewTenant{}, ErrTenantExists},
		"name":         {"Acme", NewTenant{}, ErrName},
		"unknown node": {"gamma", NewTenant{Node: "n3"}, ErrUnknownNode},
	} {
		_, err := rt.Create(t.Context(), c.tenant, c.as)
		require.ErrorIs(t, err, c.err, name)
	}
	_, err = rt.Create(t.Context(), "gamma", NewTenant{Quota: quota.Limits{Rows: -1}})
	require.ErrorContains(t, err, "rows")
	_, err = rt.Create(t.Context(), "gamma", NewTenant{Node: "n1", Schema: json.RawMessage(`{"format":1,"fenecql":"drop everything"}`)})
	var refused *SchemaError
	require.ErrorAs(t, err, &refused)
	require.True(t, json.Valid(refused.Answer))
	require.ErrorContains(t, err, "the schema is refused: {")
	require.False(t, n1.holds(t, "gamma"))
}

func TestChangesByCall(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{UpstreamTimeout: time.Second}, n1, n2)
	acmeOn(t, addr, "n1")
	set, err := rt.SetQuota(t.Context(), "acme", quota.Limits{Rows: 11})
	require.NoError(t, err)
	require.Equal(t, "n1", set.Node)
	require.True(t, set.Sent)
	mustRun(t, addr, "acme", "put docs {n: 10}")
	status, _ := statement(t, addr, "acme", "put docs {n: 11}")
	require.Equal(t, 413, status)
	_, err = rt.SetQuota(t.Context(), "acme", quota.Limits{Rows: -1})
	require.Error(t, err)
	require.EqualValues(t, 11, rt.directory.Quota("acme").Rows)
	_, err = rt.SetQuota(t.Context(), "nobody", quota.Limits{})
	require.ErrorIs(t, err, ErrUnknownTenant)

	require.NoError(t, rt.SetStatus("acme", tenant.Degraded, "as told"))
	status, _ = statement(t, addr, "acme", "get docs count")
	require.Equal(t, 503, status)
	require.NoError(t, rt.SetStatus("acme", tenant.Active, ""))
	require.ErrorIs(t, rt.SetStatus("nobody", tenant.Active, ""), ErrUnknownTenant)

	require.NoError(t, rt.Drain("n1"))
	require.Eventually(t, func() bool { return rt.directory.Placed("n1") == 0 }, 10*time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		p, err := rt.DrainProgress("n1")
		require.NoError(t, err)
		return p.Moving == 0
	}, 10*time.Second, time.Millisecond)
	require.True(t, rt.directory.Attrs("n1").Draining)
	require.NoError(t, rt.Undrain("n1"))
	require.False(t, rt.directory.Attrs("n1").Draining)
	require.ErrorIs(t, rt.Drain("n3"), ErrUnknownNode)
	require.ErrorIs(t, rt.Undrain("n3"), ErrUnknownNode)
	_, err = rt.DrainProgress("n3")
	require.ErrorIs(t, err, ErrUnknownNode)

	n2.failing(failsAt(http.MethodDelete, "/_admin/tenants/acme", 409))
	require.ErrorContains(t, rt.Delete(t.Context(), "acme"), "node n2 answered 409")
	n2.failing(nil)
	require.NoError(t, rt.Delete(t.Context(), "acme"))
	require.ErrorIs(t, rt.Delete(t.Context(), "acme"), ErrUnknownTenant)
}

// A quota that its node has not got yet is listed.
func TestUnsentQuotas(t *testing.T) {
	n1 := startLocalNode(t, "n1")
	rt, addr := routerOver(t, Options{}, n1)
	acmeOn(t, addr, "n1")
	_, body := shardCall(t, addr, "GET", "unsent", "")
	require.Equal(t, `[]`, body)
	n1.failing(silent)
	set, err := rt.SetQuota(t.Context(), "acme", quota.Limits{Rows: 5})
	require.NoError(t, err)
	require.Equal(t, "n1", set.Node)
	require.False(t, set.Sent)
	_, body = shardCall(t, addr, "GET", "unsent", "")
	require.Equal(t, `[{"tenant":"acme","node":"n1","quota":{"rows":5}}]`, body)
	n1.failing(nil)
	rt.reconciler.kick()
	require.Eventually(t, func() bool {
		_, body := shardCall(t, addr, "GET", "unsent", "")
		return body == `[]`
	}, 10*time.Second, 10*time.Millisecond)
}
