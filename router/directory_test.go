package router_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

func testNode(name, addr string) router.Node {
	return router.Node{Name: name, Addr: addr, Token: router.NewToken("t-" + name)}
}

func placed(name, node string, state router.State, epoch int64) router.Tenant {
	return router.Tenant{Name: name, Node: node, State: state, Epoch: epoch}
}

func TestDirectorySurvivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := router.OpenDirectory(path)
	require.NoError(t, err)
	require.NoError(t, d.PutNode(testNode("n2", "b:2")))
	require.NoError(t, d.PutNode(testNode("n1", "a:1")))
	require.NoError(t, d.PutNode(testNode("n3", "c:3")))
	require.NoError(t, d.Place("acme", testNode("n1", "a:1")))
	require.NoError(t, d.Place("beta", testNode("n2", "b:2")))
	require.NoError(t, d.Place("gone", testNode("n1", "a:1")))
	require.NoError(t, d.Forget("gone"))
	require.NoError(t, d.PutNode(testNode("n1", "a:9")))
	require.NoError(t, d.DeleteNode("n3"))
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "again")
	require.ErrorIs(t, d.Forget("acme"), router.ErrClosed)

	d = openDirectory(t, path)
	require.Equal(t, []router.Tenant{placed("acme", "n1", router.StateActive, 1), placed("beta", "n2", router.StateActive, 1)}, d.Tenants())
	nodes := d.Nodes()
	require.Len(t, nodes, 2)
	for i, want := range []router.Node{testNode("n1", "a:9"), testNode("n2", "b:2")} {
		require.Equal(t, want.Name, nodes[i].Name)
		require.Equal(t, want.Addr, nodes[i].Addr)
		require.True(t, nodes[i].Token.Opens("t-"+want.Name))
	}
	n, ok := d.Lookup([]byte("acme"))
	require.True(t, ok)
	require.Equal(t, "a:9", n.Addr)
	require.ErrorIs(t, d.DeleteNode("n1"), router.ErrNodeInUse, "what is placed is counted again")
}

func TestDirectoryIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	openDirectory(t, path)
	_, err := router.OpenDirectory(path)
	require.ErrorIs(t, err, fenec.ErrInUse)
}

// TestDirectoryFile opens a file that was written in other ways.
func TestDirectoryFile(t *testing.T) {
	const nodes = "create collection nodes (name text @hash, addr text, token text)"
	const tenants = "create collection tenants (name text @hash, node text @hash, state text)"
	for _, c := range []struct {
		name       string
		statements []string
		want       []router.Tenant
		err        error
	}{
		{"empty", nil, []router.Tenant{}, nil},
		{"one collection", []string{nodes}, []router.Tenant{}, nil},
		{"states", []string{
			nodes, tenants,
			`put nodes {name: "n1", addr: "a:1", token: "x"}`,
			`put tenants [{name: "a", node: "n1", state: "moving"}, {name: "b", node: "n1", state: "dreaming"}, {name: "c", node: "n1"}]`,
		}, []router.Tenant{placed("a", "n1", router.StateMoving, 0), placed("b", "n1", router.StateActive, 0), placed("c", "n1", router.StateActive, 0)}, nil},
		{"an unknown node", []string{nodes, tenants, `put tenants {name: "a", node: "n1", state: "active"}`}, nil, router.ErrUnknownNode},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "shard.fenec")
			db, err := fenec.Open(path, fenec.Options{})
			require.NoError(t, err)
			for _, statement := range c.statements {
				_, err := db.Exec(context.Background(), statement)
				require.NoError(t, err)
			}
			require.NoError(t, db.Close())

			d, err := router.OpenDirectory(path)
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				db, err = fenec.Open(path, fenec.Options{})
				require.NoError(t, err, "nothing stays open")
				require.NoError(t, db.Close())
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, d.Tenants())
			require.NoError(t, d.Close())
		})
	}
}

func TestDirectoryRefuses(t *testing.T) {
	d := openDirectory(t, "")
	n := testNode("n1", "a:1")
	require.ErrorIs(t, d.PutNode(testNode("N1", "a:1")), router.ErrName)
	require.ErrorIs(t, d.PutNode(testNode("n1", "a")), router.ErrNode)
	require.ErrorIs(t, d.PutNode(router.Node{Name: "n1", Addr: "a:1"}), router.ErrNode)
	require.ErrorIs(t, d.DeleteNode("n1"), router.ErrUnknownNode)
	require.ErrorIs(t, d.Place("acme", n), router.ErrUnknownNode)
	require.ErrorIs(t, d.Forget("acme"), router.ErrUnknownTenant)

	require.NoError(t, d.PutNode(n))
	require.ErrorIs(t, d.Place("Acme", n), router.ErrName)
	require.ErrorIs(t, d.Place("acme", testNode("n1", "b:1")), router.ErrNodeChanged)
	require.NoError(t, d.Place("acme", n))
	require.ErrorIs(t, d.Place("acme", n), router.ErrTenantExists)
	require.ErrorIs(t, d.DeleteNode("n1"), router.ErrNodeInUse)

	release, err := d.Claim("acme")
	require.NoError(t, err)
	_, err = d.Claim("acme")
	require.ErrorIs(t, err, router.ErrInProgress)
	other, err := d.Claim("beta")
	require.NoError(t, err)
	other()
	release()
	release, err = d.Claim("acme")
	require.NoError(t, err)
	release()
}

func TestLookupDoesNotAllocate(t *testing.T) {
	d := openDirectory(t, "")
	require.NoError(t, d.PutNode(testNode("n1", "a:1")))
	require.NoError(t, d.Place("acme", testNode("n1", "a:1")))
	key := []byte("acme")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, ok := d.Lookup(key); !ok {
			panic("not found")
		}
	}))
}

// TestDirectoryUnderChange looks tenants up while others come and go.
func TestDirectoryUnderChange(t *testing.T) {
	d := openDirectory(t, "")
	n := testNode("n1", "a:1")
	require.NoError(t, d.PutNode(n))
	require.NoError(t, d.Place("fixed", n))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got, ok := d.Lookup([]byte("fixed")); !ok || got.Name != "n1" {
					panic("lost")
				}
				d.Tenants()
				d.Nodes()
			}
		})
	}
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("t%d-%d", w, i)
				if d.Place(name, n) != nil || i%2 == 0 && d.Forget(name) != nil || d.PutNode(n) != nil {
					panic("refused")
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	require.Len(t, d.Tenants(), 76)
}

func BenchmarkLookup(b *testing.B) {
	d := openDirectory(b, "")
	require.NoError(b, d.PutNode(testNode("n1", "a:1")))
	for i := range 10_000 {
		require.NoError(b, d.Place(fmt.Sprintf("tenant-%d", i), testNode("n1", "a:1")))
	}
	key := []byte("tenant-5000")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			d.Lookup(key)
		}
	})
}
