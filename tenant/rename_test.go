package tenant_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

func TestRename(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{DeleteWait: 1})
	ctx := t.Context()
	require.NoError(t, m.Create(ctx, "acme"))
	require.NoError(t, m.Create(ctx, "taken"))
	run(t, m, "acme", "create collection notes (who text)")
	run(t, m, "acme", "put notes {who: 'acme'}")
	require.NoError(t, m.WriteBeside(ctx, "acme", tenant.FollowsFile, []byte("http://elsewhere")))
	require.NoError(t, m.SetStatus(ctx, "acme", tenant.Provisioning))
	before, err := os.Stat(filepath.Join(dir, "acme.fenec"))
	require.NoError(t, err)

	require.ErrorIs(t, m.Rename(ctx, "acme", "taken"), tenant.ErrExists)
	require.ErrorIs(t, m.Rename(ctx, "acme", "acme"), tenant.ErrExists)
	require.ErrorIs(t, m.Rename(ctx, "nope", "beta"), tenant.ErrNotFound)
	require.NoError(t, m.Rename(ctx, "acme", "beta"))

	after, err := os.Stat(filepath.Join(dir, "beta.fenec"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "nothing is copied")
	status, err := m.Status(ctx, "beta")
	require.NoError(t, err)
	require.Equal(t, tenant.Provisioning, status)
	require.NoError(t, m.SetStatus(ctx, "beta", tenant.Active))
	require.Equal(t, 1, count(t, m, "beta", "notes"))
	follows, err := m.ReadBeside("beta", tenant.FollowsFile)
	require.NoError(t, err)
	require.Equal(t, "http://elsewhere", string(follows))
	_, err = m.ReadBeside("acme", tenant.FollowsFile)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = m.Acquire(ctx, "acme")
	require.ErrorIs(t, err, tenant.ErrNotFound)

	h := acquire(t, m, "beta")
	require.ErrorIs(t, m.Rename(ctx, "beta", "acme"), tenant.ErrBusy)
	h.Release()
	_, err = m.Freeze(ctx, "beta", 0)
	require.NoError(t, err)
	require.ErrorIs(t, m.Rename(ctx, "beta", "acme"), tenant.ErrFrozen)
	require.NoError(t, m.Thaw(ctx, "beta"))
	require.NoError(t, m.Rename(ctx, "beta", "acme"))
}

// TestRenameFoldsWhatACrashLeft renames a tenant that is closed and has a log.
func TestRenameFoldsWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	db, err := fenec.Open(filepath.Join(dir, "acme.fenec"), fenec.Options{NoCheckpoint: true})
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "create collection notes (who text)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.FileExists(t, filepath.Join(dir, "acme.fenec-log"))
	m := open(t, dir, tenant.Options{})
	require.NoError(t, m.Rename(t.Context(), "acme", "beta"))
	require.Equal(t, []string{"beta.fenec"}, files(t, dir))
	require.Zero(t, count(t, m, "beta", "notes"))
}
