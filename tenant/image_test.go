package tenant_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// imageOf returns the image of a tenant.
func imageOf(t *testing.T, m *tenant.Manager, name string) []byte {
	t.Helper()
	var image bytes.Buffer
	require.NoError(t, m.Export(t.Context(), name, &image))
	return image.Bytes()
}

func importCopy(t *testing.T, m *tenant.Manager, from, to string) {
	t.Helper()
	image := imageOf(t, m, from)
	require.NoError(t, m.Import(t.Context(), to, bytes.NewReader(image), int64(len(image))))
}

// count returns how many rows a tenant's collection has.
func count(t *testing.T, m *tenant.Manager, name, collection string) int {
	t.Helper()
	h, err := m.Acquire(t.Context(), name)
	require.NoError(t, err)
	defer h.Release()
	res, err := h.Query(t.Context(), "get "+collection)
	require.NoError(t, err)
	return res.Len()
}

func TestExportAndImport(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection notes (who text)")
	run(t, m, "acme", "put notes {who: 'acme'}")
	image, err := m.Image(t.Context(), "acme")
	require.NoError(t, err)
	require.NoError(t, m.Delete(t.Context(), "acme"), "the image holds nothing of the tenant")
	for _, stale := range []string{"copy.follows", "copy.quota", "copy.fenec-log", "copy.fenec-log.old", "copy.fenec-log.foreign"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, stale), []byte("stale"), 0o600))
	}
	require.NoError(t, m.Import(t.Context(), "copy", image, image.Size()))
	require.NoError(t, image.Close())
	st, err := m.Stats()
	require.NoError(t, err)
	require.Zero(t, st.Open, "an import opens nothing")
	require.Equal(t, 1, count(t, m, "copy", "notes"))
	require.NoError(t, m.Purge(t.Context(), "acme"))
	require.Subset(t, []string{"copy.fenec", "copy.fenec-log"}, files(t, dir))
}

func TestBadImages(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{MaxImport: 1 << 20})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection notes (who text)")
	whole := imageOf(t, m, "acme")
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	n := int64(len(whole))
	for _, c := range []struct {
		name string
		data []byte
		size int64
		want error
	}{
		{"cut in half", whole[:n/2], n / 2, fenec.ErrImage},
		{"cut, of unknown length", whole[:n/2], -1, fenec.ErrImage},
		{"shorter than told", whole, n + 1, fenec.ErrImage},
		{"longer than told", whole, n - 1, tenant.ErrTooLarge},
		{"followed by a byte", append(bytes.Clone(whole), 0), n + 1, fenec.ErrImage},
		{"with a bit flipped", flipped, n, fenec.ErrImage},
		{"empty", nil, 0, fenec.ErrImage},
		{"no image", []byte("not an image at all, but long enough to be read as one"), -1, fenec.ErrImage},
		{"told to be too large", whole, 1<<20 + 1, tenant.ErrTooLarge},
		{"too large, of unknown length", append(bytes.Clone(whole), make([]byte, 1<<20)...), -1, nil},
	} {
		err := m.Import(t.Context(), "copy", bytes.NewReader(c.data), c.size)
		require.Error(t, err, c.name)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, c.name)
		}
	}
	require.ErrorIs(t, m.Import(t.Context(), "acme", bytes.NewReader(whole), n), tenant.ErrExists)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Import(ctx, "copy", bytes.NewReader(whole), n), context.Canceled)
	require.ErrorIs(t, m.Export(t.Context(), "nope", io.Discard), tenant.ErrNotFound)
	_, err := m.Acquire(t.Context(), "copy")
	require.ErrorIs(t, err, tenant.ErrNotFound)
	require.Subset(t, []string{"acme.fenec", "acme.fenec-log"}, files(t, dir))
}

// TestImportTakesItsTime holds up nobody: while an image comes, the name is unknown,
// may be created, and no second import has it.
func TestImportTakesItsTime(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	image := imageOf(t, m, "acme")
	r, w := io.Pipe()
	imported := make(chan error)
	go func() { imported <- m.Import(context.Background(), "copy", r, int64(len(image))) }()
	_, err := w.Write(image[:100])
	require.NoError(t, err)
	_, err = m.Acquire(t.Context(), "copy")
	require.ErrorIs(t, err, tenant.ErrNotFound)
	require.ErrorIs(t, m.Import(t.Context(), "copy", bytes.NewReader(image), -1), tenant.ErrBusy)
	require.NoError(t, m.Create(t.Context(), "copy"))
	_, err = w.Write(image[100:])
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.ErrorIs(t, <-imported, tenant.ErrExists)
	run(t, m, "copy", "create collection mine (b int)")
}
