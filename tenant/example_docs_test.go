package tenant_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// TestPage runs the code of docs/tenants.md.
func TestPage(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := context.Background()

	tenants, err := tenant.Open("customers", tenant.Options{MaxMemory: 1 << 30})
	require.NoError(t, err)
	defer tenants.Close()
	err = tenants.Create(ctx, "acme")
	require.NoError(t, err)

	h, err := tenants.Acquire(ctx, "acme")
	require.NoError(t, err)
	defer h.Release()
	_, err = h.Exec(ctx, `create collection notes (done bool)`)
	require.NoError(t, err)
	res, err := h.Query(ctx, `get notes where done = false`)
	require.NoError(t, err)
	require.Zero(t, res.Len())
}
