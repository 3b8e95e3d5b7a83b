package router

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// reopened closes the directory and opens its file again.
func reopened(t *testing.T, d *Directory, path string) *Directory {
	t.Helper()
	require.NoError(t, d.Close())
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// TestChangesSurvive makes each kind of change and compares what the memory says with
// what the file says.
func TestChangesSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	n1, n2 := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}, Node{Name: "n2", Addr: "b:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n1))
	require.NoError(t, d.PutNode(n2))
	require.NoError(t, d.Place("acme", n1))
	acme := Tenant{Name: "acme", Node: "n1", State: StateActive, Epoch: 1}
	for _, step := range []struct {
		name   string
		change func() error
		tenant Tenant
		strays []Stray
	}{
		{"degraded", func() error { return d.SetStatus("acme", tenant.Degraded) },
			Tenant{"acme", "n1", StateActive, tenant.Degraded, 1, nil, nil, false}, nil},
		{"active", func() error { return d.SetStatus("acme", tenant.Active) }, acme, nil},
		{"noticed", func() error { return d.notice("acme", true) },
			Tenant{"acme", "n1", StateActive, tenant.Degraded, 1, nil, nil, true}, nil},
		{"healthy again", func() error { return d.notice("acme", false) }, acme, nil},
		{"noticed again", func() error { return d.notice("acme", true) },
			Tenant{"acme", "n1", StateActive, tenant.Degraded, 1, nil, nil, true}, nil},
		{"decided", func() error { return d.SetStatus("acme", tenant.Degraded) },
			Tenant{"acme", "n1", StateActive, tenant.Degraded, 1, nil, nil, false}, nil},
		{"which stays", func() error {
			require.ErrorIs(t, d.notice("acme", false), errDecided)
			require.ErrorIs(t, d.notice("acme", true), errDecided)
			return nil
		}, Tenant{"acme", "n1", StateActive, tenant.Degraded, 1, nil, nil, false}, nil},
		{"decided again", func() error { return d.SetStatus("acme", tenant.Active) }, acme, nil},
		{"a move", func() error { return d.beginMove("acme", "n2") },
			Tenant{"acme", "n1", StateMoving, tenant.Active, 1, &Move{To: "n2"}, nil, false}, nil},
		{"that ends", func() error { return d.endMove("acme", nil) }, acme, nil},
		{"another", func() error { return d.beginMove("acme", "n2") },
			Tenant{"acme", "n1", StateMoving, tenant.Active, 1, &Move{To: "n2"}, nil, false}, nil},
		{"whose source is frozen", func() error { return d.frozenAt("acme", 5) },
			Tenant{"acme", "n1", StateMoving, tenant.Active, 1, &Move{To: "n2", Seq: 5}, nil, false}, nil},
		{"that leaves something", func() error { return d.endMove("acme", &Stray{Tenant: "acme", Node: "n2"}) }, acme, []Stray{{Tenant: "acme", Node: "n2"}}},
		{"again", func() error { return d.endMove("acme", &Stray{Tenant: "acme", Node: "n2"}) }, acme, []Stray{{Tenant: "acme", Node: "n2"}}},
		{"a flip", func() error { return d.flip("acme", n2, 7) },
			Tenant{"acme", "n2", StateActive, tenant.Active, 2, nil, nil, false}, []Stray{{"acme", "n1", 7}}},
		{"and back", func() error { return d.flip("acme", n1, 8) },
			Tenant{"acme", "n1", StateActive, tenant.Active, 3, nil, nil, false}, []Stray{{"acme", "n2", 8}}},
		{"cleared away", func() error { return d.dropStray(Stray{Tenant: "acme", Node: "n2"}) },
			Tenant{"acme", "n1", StateActive, tenant.Active, 3, nil, nil, false}, nil},
	} {
		require.NoError(t, step.change(), step.name)
		for range 2 {
			got, ok := d.Tenant("acme")
			require.True(t, ok)
			require.Equal(t, step.tenant, got, step.name)
			require.ElementsMatch(t, step.strays, d.Strays(), step.name)
			require.Equal(t, 1, d.Placed(step.tenant.Node), step.name)
			d = reopened(t, d, path)
		}
	}

	limits := quota.Limits{Rows: 5, BytesPerSecond: 7}
	attrs := Attrs{Role: RoleDedicated, MaxTenants: 3, MaxBytes: 4, Labels: map[string]string{"zone": "a"}, Draining: true}
	require.NoError(t, d.SetQuota("acme", limits))
	require.NoError(t, d.SetAttrs("n1", attrs))
	for range 2 {
		require.Equal(t, limits, d.Quota("acme"))
		require.Equal(t, attrs, d.Attrs("n1"))
		require.Equal(t, Attrs{Role: RoleShared}, d.Attrs("n2"))
		d = reopened(t, d, path)
	}
}

// TestAgain uses a name and a node a second time: a tenant has no quota then, and its
// epoch goes on.
func TestAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	n1, n2 := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}, Node{Name: "n2", Addr: "b:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n1))
	require.NoError(t, d.PutNode(n2))
	require.NoError(t, d.Place("acme", n1))
	require.NoError(t, d.SetQuota("acme", quota.Limits{Rows: 5}))
	require.NoError(t, d.notice("acme", true))
	require.NoError(t, d.flip("acme", n2, 7))
	require.NoError(t, d.Forget("acme"))
	d = reopened(t, d, path)
	_, err = d.Status(context.Background(), "acme")
	require.ErrorIs(t, err, tenant.ErrNotFound)

	require.Equal(t, []Stray{{"acme", "n1", 7}}, d.Strays())
	require.NoError(t, d.Place("acme", n1))
	require.Empty(t, d.Strays(), "what is placed there is no stray")
	require.Zero(t, d.Quota("acme"))
	for range 2 {
		got, _ := d.Tenant("acme")
		require.Equal(t, Tenant{"acme", "n1", StateActive, tenant.Active, 3, nil, nil, false}, got)
		d = reopened(t, d, path)
	}

	require.NoError(t, d.beginMove("acme", "n2"))
	require.ErrorIs(t, d.DeleteNode("n2"), ErrNodeInUse)
	require.NoError(t, d.endMove("acme", &Stray{Tenant: "acme", Node: "n2"}))
	require.NoError(t, d.SetAttrs("n2", Attrs{MaxTenants: 1}))
	require.NoError(t, d.DeleteNode("n2"))
	require.NoError(t, d.PutNode(n2))
	for range 2 {
		require.Empty(t, d.Strays())
		require.Equal(t, Attrs{Role: RoleShared}, d.Attrs("n2"))
		d = reopened(t, d, path)
	}
}

func TestChangesRefused(t *testing.T) {
	d, err := OpenDirectory("")
	require.NoError(t, err)
	defer d.Close()
	n1 := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n1))
	require.NoError(t, d.Place("acme", n1))
	require.ErrorIs(t, d.SetAttrs("n2", Attrs{}), ErrUnknownNode)
	require.ErrorIs(t, d.SetAttrs("n1", Attrs{Role: "main"}), ErrAttrs)
	require.ErrorIs(t, d.SetAttrs("n1", Attrs{MaxBytes: -1}), ErrAttrs)
	require.ErrorIs(t, d.SetStatus("beta", tenant.Active), ErrUnknownTenant)
	require.ErrorIs(t, d.notice("beta", true), ErrUnknownTenant)
	require.ErrorIs(t, d.SetQuota("beta", quota.Limits{}), ErrUnknownTenant)
	require.ErrorIs(t, d.beginMove("beta", "n1"), ErrUnknownTenant)
	require.ErrorIs(t, d.flip("acme", Node{Name: "n2", Addr: "b:1"}, 1), ErrUnknownNode)
	require.ErrorIs(t, d.flip("acme", Node{Name: "n1", Addr: "b:1"}, 1), ErrNodeChanged)
	require.ErrorIs(t, d.flip("beta", n1, 1), ErrUnknownTenant)
}

func TestHold(t *testing.T) {
	d, err := OpenDirectory("")
	require.NoError(t, err)
	defer d.Close()
	n1 := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n1))
	require.NoError(t, d.Place("acme", n1))
	release := d.hold("acme")
	p, _ := d.find([]byte("acme"))
	require.NoError(t, d.SetStatus("acme", tenant.Degraded), "what changes meanwhile leaves the gate")
	q, _ := d.find([]byte("acme"))
	require.Equal(t, p.gate, q.gate)
	select {
	case <-p.gate:
		t.Fatal("open")
	default:
	}
	release()
	<-p.gate
	q, _ = d.find([]byte("acme"))
	require.Nil(t, q.gate)
	require.Equal(t, tenant.Degraded, q.status)

	release = d.hold("acme")
	require.NoError(t, d.Forget("acme"))
	release()
}
