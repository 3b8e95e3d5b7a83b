package tenant_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// gated returns a manager in a bubble, with some tenants.
func gated(t *testing.T, opts tenant.Options, names ...string) *tenant.Manager {
	m, err := tenant.Open(t.TempDir(), opts)
	require.NoError(t, err)
	for _, name := range names {
		require.NoError(t, m.Create(context.Background(), name))
		h, err := m.Acquire(context.Background(), name)
		require.NoError(t, err)
		_, err = h.Exec(context.Background(), "create collection a (b int)")
		require.NoError(t, err)
		h.Release()
	}
	return m
}

func acquire(t *testing.T, m *tenant.Manager, name string) *tenant.Handle {
	t.Helper()
	h, err := m.Acquire(context.Background(), name)
	require.NoError(t, err)
	return h
}

func TestPlacesInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gated(t, tenant.Options{MaxInFlight: 2, Wait: 100 * time.Millisecond, IdleClose: -1}, "a", "b", "c")
		defer m.Close()
		first, second := acquire(t, m, "a"), acquire(t, m, "b")
		began := time.Now()
		_, err := m.Acquire(context.Background(), "c")
		require.ErrorIs(t, err, tenant.ErrBusy)
		require.Equal(t, 100*time.Millisecond, time.Since(began))

		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		_, err = m.Acquire(ctx, "c")
		require.ErrorIs(t, err, context.DeadlineExceeded)

		time.AfterFunc(50*time.Millisecond, first.Release)
		third := acquire(t, m, "c")
		third.Release()
		second.Release()
		acquire(t, m, "a").Release()
	})
}

func TestPlacesOfOneTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gated(t, tenant.Options{MaxInFlightTenant: 1, Wait: time.Second, IdleClose: -1}, "a", "b")
		defer m.Close()
		a := acquire(t, m, "a")
		defer a.Release()
		_, err := m.Acquire(context.Background(), "a")
		require.ErrorIs(t, err, tenant.ErrBusy)
		acquire(t, m, "b").Release()
	})
}

// TestPlacesGoRound has one tenant that asks for far more than another: the other is
// served in turn, and each in its order.
func TestPlacesGoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gated(t, tenant.Options{MaxInFlight: 1, Wait: time.Minute, IdleClose: -1}, "greedy", "small")
		defer m.Close()
		first := acquire(t, m, "greedy")
		var mu sync.Mutex
		var served []string
		var waiters sync.WaitGroup
		ask := func(name, as string) {
			waiters.Go(func() {
				h, err := m.Acquire(context.Background(), name)
				if err != nil {
					as = err.Error()
				}
				mu.Lock()
				served = append(served, as)
				mu.Unlock()
				time.Sleep(time.Millisecond) // in the bubble: while others wait
				h.Release()
			})
			synctest.Wait()
		}
		for _, as := range []string{"g1", "g2", "g3", "g4"} {
			ask("greedy", as)
		}
		ask("small", "s1")
		ask("small", "s2")
		first.Release()
		waiters.Wait()
		require.Equal(t, []string{"g1", "s1", "g2", "s2", "g3", "g4"}, served)
	})
}

// TestWaitersHoldNoPlace has one that waits for the write for which it would else hold
// the only place.
func TestWaitersHoldNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gated(t, tenant.Options{MaxInFlight: 1, Wait: time.Second, IdleClose: -1}, "a")
		defer m.Close()
		for name, wait := range map[string]func(h *tenant.Handle, since uint64) error{
			"WaitSeq":    func(h *tenant.Handle, since uint64) error { return h.WaitSeq(context.Background(), since+1) },
			"WaitChange": func(h *tenant.Handle, since uint64) error { return h.WaitChange(context.Background(), since, "a") },
			"Subscribe": func(h *tenant.Handle, since uint64) error {
				sub, err := h.Subscribe(context.Background(), fenec.Shape{Collection: "a"}, since)
				if err != nil {
					return err
				}
				_, err = sub.Next(context.Background())
				return err
			},
			"Pause": func(h *tenant.Handle, since uint64) error {
				h.Pause()
				h.Pause()
				time.Sleep(time.Millisecond)
				_ = h.Resume(context.Background())
				return h.Resume(context.Background())
			},
		} {
			waiter := acquire(t, m, "a")
			waited := make(chan error)
			go func() { waited <- wait(waiter, waiter.Seq()) }()
			synctest.Wait()
			writer := acquire(t, m, "a")
			_, err := writer.Exec(context.Background(), "put a {b: 1}")
			require.NoError(t, err, name)
			writer.Release()
			require.NoError(t, <-waited, name)
			_, err = m.Acquire(context.Background(), "a")
			require.ErrorIs(t, err, tenant.ErrBusy, "%s: it has its place again", name)
			waiter.Release()
			acquire(t, m, "a").Release()
		}
	})
}

// TestResumeWithoutAPlace fails in time; the handle can still be released once.
func TestResumeWithoutAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gated(t, tenant.Options{MaxInFlight: 1, Wait: time.Second, IdleClose: -1}, "a")
		defer m.Close()
		waiter := acquire(t, m, "a")
		waiter.Pause()
		other := acquire(t, m, "a")
		require.ErrorIs(t, waiter.Resume(context.Background()), tenant.ErrBusy)
		waiter.Release()
		_, err := m.Acquire(context.Background(), "a")
		require.ErrorIs(t, err, tenant.ErrBusy, "the place is the other's")
		other.Release()
		acquire(t, m, "a").Release()
	})
}
