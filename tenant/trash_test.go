package tenant_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// clock is a time that tests move.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestUndeleteBringsAllBack(t *testing.T) {
	dir := t.TempDir()
	now := &clock{time.UnixMilli(1000)}
	m := open(t, dir, tenant.Options{Clock: now.Now})
	ctx := t.Context()
	for _, who := range []string{"first", "second"} {
		require.NoError(t, m.Create(ctx, "acme"))
		run(t, m, "acme", "create collection notes (who text)")
		run(t, m, "acme", "put notes {who: $1}", who)
		require.NoError(t, m.WriteBeside(ctx, "acme", tenant.QuotaFile, []byte("quota of "+who)))
		require.NoError(t, m.Delete(ctx, "acme"))
		_, err := m.ReadBeside("acme", tenant.QuotaFile)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.Equal(t, []string{".trash/acme.1000/acme.fenec", ".trash/acme.1000/acme.quota", ".trash/acme.1001/acme.fenec", ".trash/acme.1001/acme.quota"}, files(t, dir))
	trash, err := m.Trash()
	require.NoError(t, err)
	require.Len(t, trash, 2)
	require.Equal(t, time.UnixMilli(1001), trash[1].Time)
	st, err := m.Stats()
	require.NoError(t, err)
	require.Zero(t, st.Tenants)
	require.Positive(t, st.Disk, "the trash takes up room")

	for _, who := range []string{"second", "first"} {
		require.NoError(t, m.Undelete(ctx, "acme"))
		require.ErrorIs(t, m.Undelete(ctx, "acme"), tenant.ErrExists)
		quota, err := m.ReadBeside("acme", tenant.QuotaFile)
		require.NoError(t, err)
		require.Equal(t, "quota of "+who, string(quota))
		h := acquire(t, m, "acme")
		res, err := h.Query(ctx, "get notes")
		require.NoError(t, err)
		require.True(t, res.Next())
		got, err := res.Row().Text("who")
		require.NoError(t, err)
		require.Equal(t, who, got)
		h.Release()
		require.NoError(t, m.DeleteNow(ctx, "acme"))
	}
	require.ErrorIs(t, m.Undelete(ctx, "acme"), tenant.ErrNotFound)
	require.Empty(t, files(t, dir))
}

func TestPurge(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	require.ErrorIs(t, m.Purge(t.Context(), "acme"), tenant.ErrNotFound)
	for range 2 {
		require.NoError(t, m.Create(t.Context(), "acme"))
		require.NoError(t, m.Delete(t.Context(), "acme"))
	}
	require.NoError(t, m.Create(t.Context(), "acme"))
	require.NoError(t, m.Purge(t.Context(), "acme"))
	trash, err := m.Trash()
	require.NoError(t, err)
	require.Empty(t, trash)
	require.Zero(t, run(t, m, "acme", "create collection a (b int)"), "the one that is there stays")
}

func TestTrashExpires(t *testing.T) {
	now := &clock{time.UnixMilli(0)}
	m := open(t, t.TempDir(), tenant.Options{Clock: now.Now, TrashKeep: time.Hour})
	for _, name := range []string{"old", "young"} {
		require.NoError(t, m.Create(t.Context(), name))
		require.NoError(t, m.Delete(t.Context(), name))
		now.now = now.now.Add(30 * time.Minute)
	}
	m.ExpireTrash(now.now.Add(-time.Millisecond))
	trash, err := m.Trash()
	require.NoError(t, err)
	require.Len(t, trash, 2)
	m.ExpireTrash(now.now)
	trash, err = m.Trash()
	require.NoError(t, err)
	require.Len(t, trash, 1)
	require.Equal(t, "young", trash[0].Name)
}

func TestNoTrash(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{TrashKeep: -1})
	require.NoError(t, m.Create(t.Context(), "acme"))
	require.NoError(t, m.Delete(t.Context(), "acme"))
	require.Empty(t, files(t, dir))
	require.ErrorIs(t, m.Undelete(t.Context(), "acme"), tenant.ErrNotFound)
}

// TestDamagedTenantsGoWithTheirLogs has a tenant that cannot be folded.
func TestDamagedTenantsGoWithTheirLogs(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	for _, name := range []string{"bad.fenec", "bad.fenec-log", "bad.fenec-log.old"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, 9000), 0o600))
	}
	require.NoError(t, m.Delete(t.Context(), "bad"))
	require.Len(t, files(t, dir), 3)
	require.NoFileExists(t, filepath.Join(dir, "bad.fenec"))
	require.NoError(t, m.Create(t.Context(), "bad"), "the name is free")
	require.NoError(t, m.DeleteNow(t.Context(), "bad"))
	require.NoError(t, m.Undelete(t.Context(), "bad"))
	require.FileExists(t, filepath.Join(dir, "bad.fenec-log"))
}

// TestTheTrashKeepsStatuses brings tenants back that are not to be served.
func TestTheTrashKeepsStatuses(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	ctx := t.Context()
	for name, status := range map[string]tenant.Status{"active": tenant.Active, "ill": tenant.Degraded, "half": tenant.Provisioning} {
		require.NoError(t, m.Create(ctx, name))
		require.NoError(t, m.SetStatus(ctx, name, status))
		_, err := m.Freeze(ctx, name, 0)
		require.NoError(t, err)
		require.NoError(t, m.Delete(ctx, name))
		require.NoError(t, m.Create(ctx, name))
		got, err := m.Status(ctx, name)
		require.NoError(t, err)
		require.Equal(t, tenant.Active, got, "another of the name has its own")
		require.NoError(t, m.DeleteNow(ctx, name))
		require.NoError(t, m.Undelete(ctx, name))
		got, err = m.Status(ctx, name)
		require.NoError(t, err)
		require.Equal(t, status, got)
		p, err := m.Position(ctx, name)
		require.NoError(t, err)
		require.False(t, p.Frozen, "a freeze is over with the delete")
	}
	left, err := os.ReadDir(filepath.Join(dir, ".trash"))
	require.NoError(t, err)
	require.Empty(t, left)
}
