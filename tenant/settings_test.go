package tenant_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// settingsOf returns a tenant's settings.
func settingsOf(t *testing.T, m *tenant.Manager, name string) map[string]string {
	t.Helper()
	h := acquire(t, m, name)
	defer h.Release()
	settings, err := h.Settings(t.Context())
	require.NoError(t, err)
	return settings
}

func TestSettingsGoWithTheirTenant(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	require.NoError(t, m.Create(t.Context(), "beta"))
	require.Empty(t, settingsOf(t, m, "acme"))
	h := acquire(t, m, "acme")
	require.NoError(t, h.SetSettings(t.Context(), map[string]string{"brand": "x", "old": "y"}))
	want := map[string]string{tenant.SettingBrand: "Acme & Sons", tenant.SettingPublicURL: "https://acme.example", "empty": ""}
	require.NoError(t, h.SetSettings(t.Context(), want))
	h.Release()
	_, err := h.Settings(t.Context())
	require.ErrorIs(t, err, tenant.ErrReleased)
	require.ErrorIs(t, h.SetSettings(t.Context(), nil), tenant.ErrReleased)
	require.Equal(t, want, settingsOf(t, m, "acme"))
	require.Empty(t, settingsOf(t, m, "beta"))

	var image bytes.Buffer
	require.NoError(t, m.Export(t.Context(), "acme", &image))
	require.NoError(t, m.Import(t.Context(), "copy", &image, -1))
	require.NoError(t, m.Rename(t.Context(), "acme", "moved"))
	require.NoError(t, m.Delete(t.Context(), "moved"))
	require.NoError(t, m.Undelete(t.Context(), "moved"))
	require.Equal(t, want, settingsOf(t, m, "copy"))
	require.Equal(t, want, settingsOf(t, m, "moved"))

	_, err = m.Freeze(t.Context(), "moved", 0)
	require.NoError(t, err)
	h = acquire(t, m, "moved")
	defer h.Release()
	require.ErrorIs(t, h.SetSettings(t.Context(), nil), tenant.ErrFrozen)
	require.Equal(t, want, settingsOf(t, m, "moved"), "all or nothing")
}
