package tenant_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// badNames are texts that are no tenant's name.
var badNames = []string{
	"", ".", "..", "../b", "%2e%2e", "%2F", "a%2Fb", "a/b", `a\b`, "/a", "a/", "Acme", "ACME", "ä", "аcme", "acme\u200b", "ａｃｍｅ",
	strings.Repeat("a", 65), "a\x00", "\x00", "acme.", "acme..", ".acme", ".node", ".trash", "a.b", "a b", " a", "a\n", "a:b", "acme.fenec", "~", "*", "\xff",
}

func TestNamesNoTenantHas(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "tenants")
	m := open(t, dir, tenant.Options{})
	require.NoError(t, os.WriteFile(filepath.Join(parent, "b.fenec"), []byte("outside"), 0o600))
	ctx := t.Context()
	require.NoError(t, m.Create(ctx, "good"))
	calls := map[string]func(name string) error{
		"Acquire":     func(name string) error { _, err := m.Acquire(ctx, name); return err },
		"Lookup":      func(name string) error { _, err := m.Lookup(ctx, name); return err },
		"Create":      func(name string) error { return m.Create(ctx, name) },
		"Provision":   func(name string) error { return m.Provision(ctx, name, nil) },
		"Delete":      func(name string) error { return m.Delete(ctx, name) },
		"DeleteNow":   func(name string) error { return m.DeleteNow(ctx, name) },
		"Undelete":    func(name string) error { return m.Undelete(ctx, name) },
		"Purge":       func(name string) error { return m.Purge(ctx, name) },
		"Rename from": func(name string) error { return m.Rename(ctx, name, "good") },
		"Rename to":   func(name string) error { return m.Rename(ctx, "good", name) },
		"Freeze":      func(name string) error { _, err := m.Freeze(ctx, name, time.Second); return err },
		"Thaw":        func(name string) error { return m.Thaw(ctx, name) },
		"Image":       func(name string) error { _, err := m.Image(ctx, name); return err },
		"Export":      func(name string) error { return m.Export(ctx, name, nil) },
		"Import":      func(name string) error { return m.Import(ctx, name, nil, 0) },
		"SetStatus":   func(name string) error { return m.SetStatus(ctx, name, tenant.Degraded) },
		"Status":      func(name string) error { _, err := m.Status(ctx, name); return err },
		"WriteBeside": func(name string) error { return m.WriteBeside(ctx, name, tenant.QuotaFile, nil) },
		"ReadBeside":  func(name string) error { _, err := m.ReadBeside(name, tenant.QuotaFile); return err },
		"ByPath": func(name string) error {
			if name == "" {
				return tenant.ErrName // there is no such segment
			}
			_, err := tenant.ByPath{Registry: m}.Resolve(ctx, tenant.Request{Path: "/t/" + url.PathEscape(name) + "/x"})
			return err
		},
		"ByHeader": func(name string) error {
			if name == "" {
				return tenant.ErrName // there is no such header
			}
			r := tenant.Request{Peer: loopback, Header: func(string) string { return name }}
			_, err := tenant.ByHeader{Registry: m, Header: "X-Tenant", Proxies: proxies}.Resolve(ctx, r)
			return err
		},
	}
	for what, call := range calls {
		for _, name := range badNames {
			require.ErrorIs(t, call(name), tenant.ErrName, "%s of %q", what, name)
		}
	}
	require.Equal(t, []string{"good.fenec"}, files(t, dir))
	data, err := os.ReadFile(filepath.Join(parent, "b.fenec"))
	require.NoError(t, err)
	require.Equal(t, "outside", string(data))
}

func TestNamesTenantsMayHave(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	for _, name := range []string{"a", "0", "-", "_", "a-b_9", strings.Repeat("z", 64), "importing", "node", "trash"} {
		require.NoError(t, m.Create(context.Background(), name), name)
	}
	names, err := m.List()
	require.NoError(t, err)
	require.Len(t, names, 9)
}

// TestWhatIsNoFileIsNoTenant has names that lead elsewhere.
func TestWhatIsNoFileIsNoTenant(t *testing.T) {
	dir := t.TempDir()
	m := open(t, filepath.Join(dir, "tenants"), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	require.NoError(t, m.Rename(t.Context(), "acme", "beta"))
	outside := filepath.Join(dir, "outside.fenec")
	require.NoError(t, os.Rename(filepath.Join(dir, "tenants", "beta.fenec"), outside))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "tenants", "link.fenec")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tenants", "dir.fenec"), 0o700))
	for _, name := range []string{"link", "dir"} {
		_, err := m.Acquire(t.Context(), name)
		require.ErrorIs(t, err, tenant.ErrNotFound)
		require.ErrorIs(t, m.Delete(t.Context(), name), tenant.ErrNotFound)
		require.ErrorIs(t, m.Create(t.Context(), name), tenant.ErrExists, "the name is taken all the same")
	}
	require.FileExists(t, outside)
}
