package router_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant"
)

// TestPage runs the code of docs/router.md.
func TestPage(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, secret := context.Background(), "s"
	withKeys := func(h http.Handler) http.Handler { return h }
	http := http.NewServeMux() // the page's is that of all the process

	dir, err := router.OpenDirectory("shard.fenec")
	require.NoError(t, err)
	rt, err := router.New(router.Options{
		Directory: dir,
		Resolver:  tenant.ByHost{Registry: dir, Domain: "example.com"},
		Token:     router.NewToken(secret),
	})
	require.NoError(t, err)
	http.Handle("/", withKeys(rt)) // the program's own check goes before it
	moved, err := rt.Move(ctx, "acme", "n2")
	require.ErrorIs(t, err, router.ErrUnknownTenant)
	require.Zero(t, moved)
	require.NoError(t, rt.Shutdown(ctx))
	require.NoError(t, dir.Close())
}
