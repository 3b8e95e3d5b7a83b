package router

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// TestSetUpSurvives compares what the memory says of tenants that are being set up with
// what the file says.
func TestSetUpSurvives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	n1 := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n1))
	acme := func(status tenant.Status, epoch int64) []Tenant {
		return []Tenant{{Name: "acme", Node: "n1", State: StateActive, Status: status, Epoch: epoch}}
	}
	stray := Stray{Tenant: "acme", Node: "n1"}
	for _, step := range []struct {
		name    string
		change  func() error
		tenants []Tenant
		quota   quota.Limits
		limited []string
		strays  []Stray
	}{
		{"abandoned before it was placed", func() error { return d.abandon(stray) }, []Tenant{}, quota.Limits{}, nil, []Stray{stray}},
		{"placed", func() error { return d.placeAs("acme", n1, tenant.Provisioning, quota.Limits{Rows: 3}) },
			acme(tenant.Provisioning, 1), quota.Limits{Rows: 3}, []string{"acme"}, []Stray{}},
		{"abandoned", func() error { return d.abandon(stray) }, []Tenant{}, quota.Limits{}, nil, []Stray{stray}},
		{"placed without a quota", func() error { return d.placeAs("acme", n1, tenant.Active, quota.Limits{}) },
			acme(tenant.Active, 2), quota.Limits{}, nil, []Stray{}},
		{"cleared", func() error { return d.keepCleared("acme") }, acme(tenant.Active, 2), quota.Limits{}, []string{"acme"}, []Stray{}},
		{"and its node knows", func() error { return d.SetQuota("acme", quota.Limits{}) }, acme(tenant.Active, 2), quota.Limits{}, nil, []Stray{}},
	} {
		require.NoError(t, step.change(), step.name)
		for range 2 {
			require.Equal(t, step.tenants, d.Tenants(), step.name)
			require.Equal(t, len(step.tenants), d.Placed("n1"), step.name)
			require.Equal(t, step.quota, d.Quota("acme"), step.name)
			require.Equal(t, step.limited, d.limited(), step.name)
			require.ElementsMatch(t, step.strays, d.Strays(), step.name)
			d = reopened(t, d, path)
		}
	}
}

func TestSetUpRefused(t *testing.T) {
	d, s := faultDirectory(t)
	n1 := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n1))
	require.NoError(t, d.Place("acme", n1))
	place := func(name string, n Node) error {
		return d.placeAs(name, n, tenant.Provisioning, quota.Limits{Rows: 1})
	}
	require.ErrorIs(t, place("Beta", n1), ErrName)
	require.ErrorIs(t, place("acme", n1), ErrTenantExists)
	require.ErrorIs(t, place("beta", Node{Name: "n2", Addr: "a:1"}), ErrUnknownNode)
	require.ErrorIs(t, place("beta", Node{Name: "n1", Addr: "b:1"}), ErrNodeChanged)
	require.ErrorIs(t, d.keepCleared("beta"), ErrUnknownTenant)
	s.broken = errDisk
	require.ErrorIs(t, place("beta", n1), errDisk)
	require.ErrorIs(t, d.abandon(Stray{Tenant: "acme", Node: "n1"}), errDisk)
	require.ErrorIs(t, d.keepCleared("acme"), errDisk)
	require.Len(t, d.Tenants(), 1)
	require.Equal(t, 1, d.Placed("n1"))
	require.Empty(t, d.limited())
	require.Empty(t, d.Strays())
}
