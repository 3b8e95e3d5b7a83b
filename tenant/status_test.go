package tenant_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

func TestStatuses(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	ctx := t.Context()
	require.NoError(t, m.Create(ctx, "acme"))
	require.NoError(t, m.Create(ctx, "beta"))
	require.ErrorIs(t, m.SetStatus(ctx, "nope", tenant.Degraded), tenant.ErrNotFound)
	require.Error(t, m.SetStatus(ctx, "acme", 9))
	h := acquire(t, m, "acme")
	require.NoError(t, m.SetStatus(ctx, "acme", tenant.Degraded))
	_, err := h.Exec(ctx, "create collection a (b int)")
	require.NoError(t, err, "handles that are out stay good")
	h.Release()
	require.NoError(t, m.SetStatus(ctx, "beta", tenant.Provisioning))
	check := func() {
		t.Helper()
		_, err := m.Acquire(ctx, "acme")
		require.ErrorIs(t, err, tenant.ErrDegraded)
		_, err = m.Acquire(ctx, "beta")
		require.ErrorIs(t, err, tenant.ErrProvisioning)
	}
	check()
	imageOf(t, m, "acme") // what keeps house goes on
	require.NoError(t, m.Close())
	m = open(t, dir, tenant.Options{})
	check()
	require.NoError(t, m.SetStatus(ctx, "acme", tenant.Active))
	acquire(t, m, "acme").Release()
	require.NoError(t, m.DeleteNow(ctx, "beta"))
	require.NoError(t, m.Create(ctx, "beta"))
	acquire(t, m, "beta").Release()

	for _, s := range []tenant.Status{tenant.Active, tenant.Provisioning, tenant.Degraded} {
		got, err := tenant.ParseStatus(s.String())
		require.NoError(t, err)
		require.Equal(t, s, got)
	}
	_, err = tenant.ParseStatus("Active")
	require.Error(t, err)
}

func TestDegradedHere(t *testing.T) {
	dir := t.TempDir()
	now := &clock{time.UnixMilli(0)}
	refuse := errors.New("not this one")
	m := open(t, dir, tenant.Options{Clock: now.Now, OnOpen: func(id tenant.ID, _ *fenec.DB) error {
		if id.String() == "refused" {
			return refuse
		}
		return nil
	}})
	ctx := t.Context()
	require.ErrorIs(t, m.Create(ctx, "refused"), refuse)
	require.Empty(t, m.Degraded(), "what could not be made is not there")
	require.NoError(t, m.Create(ctx, "good"))
	whole, err := os.ReadFile(filepath.Join(dir, "good.fenec"))
	require.NoError(t, err)
	bad := filepath.Join(dir, "bad.fenec")
	require.NoError(t, os.WriteFile(bad, make([]byte, 20000), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "refused.fenec"), whole, 0o600))

	for range 2 {
		_, err = m.Acquire(ctx, "bad")
		require.ErrorIs(t, err, tenant.ErrDegraded)
		require.ErrorIs(t, err, fenec.ErrCorrupt)
	}
	_, err = m.Acquire(ctx, "refused")
	require.ErrorIs(t, err, refuse)
	require.ErrorIs(t, err, tenant.ErrDegraded)
	list := m.Degraded()
	require.Len(t, list, 2)
	require.Equal(t, "bad", list[0].Name)
	require.ErrorIs(t, list[1].Err, refuse)
	status, err := m.Status(ctx, "bad")
	require.NoError(t, err)
	require.Equal(t, tenant.Degraded, status)
	acquire(t, m, "good").Release()

	// Somebody puts a good file there: it is tried after a while.
	require.NoError(t, os.WriteFile(bad, whole, 0o600))
	_, err = m.Acquire(ctx, "bad")
	require.ErrorIs(t, err, tenant.ErrDegraded)
	now.now = now.now.Add(5 * time.Second)
	acquire(t, m, "bad").Release()
	require.NoError(t, m.DegradedHere("bad"))
}

func TestOneManagerHasADirectory(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, tenant.Options{})
	_, err := tenant.Open(dir, tenant.Options{})
	require.ErrorIs(t, err, fenec.ErrInUse)
}

func TestFilesBeside(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	ctx := t.Context()
	require.ErrorIs(t, m.WriteBeside(ctx, "acme", tenant.QuotaFile, []byte("x")), tenant.ErrNotFound)
	require.NoError(t, m.Create(ctx, "acme"))
	require.Error(t, m.WriteBeside(ctx, "acme", ".fenec", []byte("x")), "not every ending is for this")
	require.Error(t, m.WriteBeside(ctx, "acme", "/../x", []byte("x")))
	require.NoError(t, m.WriteBeside(ctx, "acme", tenant.QuotaFile, []byte("12345")))
	sizes, err := m.Sizes()
	require.NoError(t, err)
	require.Equal(t, int64(5), sizes["acme"]%1024, "it counts")
	require.NoError(t, m.WriteBeside(ctx, "acme", tenant.QuotaFile, nil))
	_, err = m.ReadBeside("acme", tenant.QuotaFile)
	require.ErrorIs(t, err, os.ErrNotExist)
}
