package router

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// delayCreate keeps requests for a tenant's file from a node, the first until it is let
// through: the node makes the file then, though nobody waits for it any more.
func delayCreate(n *localNode) (begun <-chan struct{}, pass func() error) {
	asked, passed, made := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	n.failing(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || r.URL.Path != "/_admin/tenants/acme" {
			return false
		}
		once.Do(func() {
			close(asked)
			<-passed
			made <- n.node.Tenants().Create(context.WithoutCancel(r.Context()), "acme")
		})
		panic(http.ErrAbortHandler)
	})
	return asked, func() error {
		close(passed)
		return <-made
	}
}

// A file that is made when the router has looked for it already is looked for again.
func TestLateFile(t *testing.T) {
	n1 := startLocalNode(t, "n1")
	rt, _ := routerOver(t, Options{lateFor: time.Hour}, n1)
	begun, pass := delayCreate(n1)
	ctx, giveUp := context.WithCancel(t.Context())
	created := make(chan error, 1)
	go func() {
		_, err := rt.Create(ctx, "acme", NewTenant{})
		created <- err
	}()
	<-begun
	giveUp()
	require.ErrorIs(t, <-created, context.Canceled)
	require.Eventually(t, func() bool { return len(rt.directory.Strays()) == 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, pass())
	require.True(t, n1.holds(t, "acme"))

	for {
		if err := rt.expectLate(Stray{Tenant: "acme", Node: "n1"}); !errors.Is(err, ErrInProgress) {
			require.NoError(t, err)
			break
		}
	}
	require.Eventually(t, func() bool { return !n1.holds(t, "acme") && len(rt.directory.Strays()) == 0 }, 10*time.Second, time.Millisecond)
}

func TestLookAgain(t *testing.T) {
	n1 := startLocalNode(t, "n1")
	rt, _ := routerOver(t, Options{lateFor: time.Millisecond}, n1)
	require.NoError(t, rt.admin.create(t.Context(), n1.Node, "acme"))
	rt.lookAgain(Stray{Tenant: "acme", Node: "n1"})
	require.Eventually(t, func() bool { return !n1.holds(t, "acme") }, 10*time.Second, time.Millisecond)
}

// Looking again touches nothing that is somebody's by now.
func TestLateFileThatIsKnown(t *testing.T) {
	for name, known := range map[string]func(d *Directory, n1, n2 Node) error{
		"placed there": func(d *Directory, n1, _ Node) error { return d.Place("acme", n1) },
		"moves there": func(d *Directory, _, n2 Node) error {
			return errors.Join(d.Place("acme", n2), d.beginMove("acme", "n1"))
		},
		"a stray there": func(d *Directory, n1, n2 Node) error { return d.expect(Stray{"acme", "n1", 7}) },
		"no such node":  func(d *Directory, _, _ Node) error { return d.DeleteNode("n1") },
	} {
		t.Run(name, func(t *testing.T) {
			d, err := OpenDirectory("")
			require.NoError(t, err)
			t.Cleanup(func() { d.Close() })
			rt, err := New(Options{Directory: d})
			require.NoError(t, err)
			require.NoError(t, rt.Shutdown(t.Context()))
			n1, n2 := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}, Node{Name: "n2", Addr: "b:1", Token: NewToken("x")}
			require.NoError(t, errors.Join(d.PutNode(n1), d.PutNode(n2)))
			require.NoError(t, known(d, n1, n2))
			before := d.Strays()
			require.NoError(t, rt.expectLate(Stray{Tenant: "acme", Node: "n1"}))
			require.Equal(t, before, d.Strays())
		})
	}
}
