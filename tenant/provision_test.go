package tenant_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

func TestProvision(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	ctx := t.Context()
	fill := func(ctx context.Context, h *tenant.Handle) error {
		_, err := m.Acquire(ctx, "acme")
		require.ErrorIs(t, err, tenant.ErrProvisioning)
		got, ok := tenant.FromContext(ctx)
		require.True(t, ok)
		require.Same(t, h, got)
		_, err = h.Exec(ctx, "create collection a (b int)")
		return err
	}
	require.NoError(t, m.Provision(ctx, "acme", fill))
	require.ErrorIs(t, m.Provision(ctx, "acme", fill), tenant.ErrExists)
	require.Zero(t, count(t, m, "acme", "a"))

	wrong := errors.New("wrong")
	require.ErrorIs(t, m.Provision(ctx, "beta", func(context.Context, *tenant.Handle) error { return wrong }), wrong)
	require.Panics(t, func() { _ = m.Provision(ctx, "beta", func(context.Context, *tenant.Handle) error { panic(wrong) }) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = m.Provision(ctx, "beta", func(context.Context, *tenant.Handle) error { runtime.Goexit(); return nil })
	}()
	<-ended
	_, err := m.Acquire(ctx, "beta")
	require.ErrorIs(t, err, tenant.ErrNotFound)
}

// TestProvisionIsOverWithItsContext has a client that goes away while its tenant is set up.
func TestProvisionIsOverWithItsContext(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, m.Provision(ctx, "acme", func(context.Context, *tenant.Handle) error { cancel(); return nil }))
	acquire(t, m, "acme").Release()
	ctx, cancel = context.WithCancel(t.Context())
	err := m.Provision(ctx, "beta", func(ctx context.Context, _ *tenant.Handle) error { cancel(); return ctx.Err() })
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, m.Create(t.Context(), "beta"), "it was removed")
}

// TestProvisionLeavesOthersAlone has the name change hands between the end of the set-up
// and what comes of it.
func TestProvisionLeavesOthersAlone(t *testing.T) {
	wrong := errors.New("wrong")
	for _, result := range []error{nil, wrong} {
		for name, next := range map[string]func(context.Context, *tenant.Manager) error{
			"create": func(ctx context.Context, m *tenant.Manager) error { return m.Create(ctx, "acme") },
			"rename": func(ctx context.Context, m *tenant.Manager) error { return m.Rename(ctx, "other", "acme") },
			"undelete": func(ctx context.Context, m *tenant.Manager) error {
				return errors.Join(m.Undelete(ctx, "acme"), m.SetStatus(ctx, "acme", tenant.Degraded))
			},
			"provision": func(ctx context.Context, m *tenant.Manager) error {
				return m.Provision(ctx, "acme", func(context.Context, *tenant.Handle) error { return nil })
			},
		} {
			t.Run(name, func(t *testing.T) {
				m := open(t, t.TempDir(), tenant.Options{})
				ctx := t.Context()
				require.NoError(t, m.Create(ctx, "other"))
				err := m.Provision(ctx, "acme", func(_ context.Context, h *tenant.Handle) error {
					h.Release()
					require.NoError(t, m.Delete(ctx, "acme"))
					require.NoError(t, next(ctx, m))
					return result
				})
				want := result
				if want == nil {
					want = tenant.ErrNotFound
				}
				require.ErrorIs(t, err, want)
				status, err := m.Status(ctx, "acme")
				require.NoError(t, err, "another has the name")
				if name == "undelete" {
					require.Equal(t, tenant.Degraded, status)
				} else {
					require.Equal(t, tenant.Active, status)
				}
			})
		}
	}
}

// TestProvisionDoesNotEndThatOfAnother has one set-up end while another goes on.
func TestProvisionDoesNotEndThatOfAnother(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	ctx := t.Context()
	err := m.Provision(ctx, "acme", func(_ context.Context, h *tenant.Handle) error {
		h.Release()
		require.NoError(t, m.Delete(ctx, "acme"))
		filling, goOn, second := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			second <- m.Provision(ctx, "acme", func(context.Context, *tenant.Handle) error { close(filling); <-goOn; return nil })
		}()
		<-filling
		t.Cleanup(func() {
			_, err := m.Acquire(context.Background(), "acme")
			require.ErrorIs(t, err, tenant.ErrProvisioning)
			close(goOn)
			require.NoError(t, <-second)
			acquire(t, m, "acme").Release()
		})
		return nil
	})
	require.ErrorIs(t, err, tenant.ErrNotFound)
}

// TestNobodyComesBeforeTheSetUp has others ask for a tenant before it has a status, while it
// is made and while it is set up.
func TestNobodyComesBeforeTheSetUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		making, goOn := make(chan struct{}), make(chan struct{})
		m := gated(t, tenant.Options{IdleClose: -1}.WithStep(func(step string) {
			if step == "create: clear" {
				close(making)
				<-goOn
			}
		}))
		defer m.Close()
		ctx := t.Context()
		provisioned, filling, fill := make(chan error), make(chan struct{}), make(chan struct{})
		go func() {
			provisioned <- m.Provision(ctx, "acme", func(context.Context, *tenant.Handle) error { close(filling); <-fill; return nil })
		}()
		<-making
		early := make(chan error, 1)
		go func() {
			h, err := m.Acquire(ctx, "acme")
			if err == nil {
				h.Release()
			}
			early <- err
		}()
		synctest.Wait() // until that waits for whoever makes the tenant
		close(goOn)
		require.ErrorIs(t, <-early, tenant.ErrProvisioning)
		<-filling
		require.NoError(t, m.Each(ctx, nil, func(context.Context, *tenant.Handle) error { return errors.New("it is being set up") }))
		require.ErrorIs(t, m.Rename(ctx, "acme", "beta"), tenant.ErrProvisioning)
		require.NoError(t, m.SetStatus(ctx, "acme", tenant.Degraded))
		require.ErrorIs(t, m.Rename(ctx, "acme", "beta"), tenant.ErrProvisioning)
		close(fill)
		require.NoError(t, <-provisioned)
		status, err := m.Status(ctx, "acme")
		require.NoError(t, err)
		require.Equal(t, tenant.Degraded, status, "what somebody has said meanwhile stays")
		require.NoError(t, m.Rename(ctx, "acme", "beta"))
	})
}
