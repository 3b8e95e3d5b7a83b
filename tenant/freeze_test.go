package tenant_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

func TestFreeze(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{IdleClose: time.Hour, MaxOpen: 1})
	ctx := t.Context()
	require.NoError(t, m.Create(ctx, "acme"))
	run(t, m, "acme", "create collection a (b int)")
	m.CloseIdle(time.Now().Add(2 * time.Hour))
	frozen, err := m.Freeze(ctx, "acme", 0) // which opens it
	require.NoError(t, err)
	require.Len(t, frozen.Boot, 16)
	again, err := m.Freeze(ctx, "acme", 0)
	require.NoError(t, err)
	require.Equal(t, frozen, again)

	h := acquire(t, m, "acme")
	require.Equal(t, frozen.Seq, h.Seq())
	_, err = h.Exec(ctx, "put a {b: 1}")
	require.ErrorIs(t, err, tenant.ErrFrozen)
	require.ErrorContains(t, err, "moved")
	res, err := h.Query(ctx, "get a")
	require.NoError(t, err)
	require.Zero(t, res.Len())
	h.Release()
	imageOf(t, m, "acme")

	m.CloseIdle(time.Now().Add(2 * time.Hour))
	require.Equal(t, []tenant.Opened{{Name: "acme", Memory: m.Opened()[0].Memory, Frozen: true}}, m.Opened())
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	require.ErrorIs(t, m.Create(short, "beta"), context.DeadlineExceeded, "it keeps its place")

	for range 2 {
		require.NoError(t, m.Thaw(ctx, "acme"))
	}
	require.Equal(t, 1, run(t, m, "acme", "put a {b: 1}"))
	require.NoError(t, m.Close())

	_, err = m.Freeze(ctx, "acme", 0)
	require.ErrorIs(t, err, tenant.ErrClosed)
	m = open(t, dir, tenant.Options{})
	other, err := m.Freeze(ctx, "acme", 0)
	require.NoError(t, err)
	require.NotEqual(t, frozen.Boot, other.Boot, "a restart shows")
	_, err = m.Freeze(ctx, "nope", 0)
	require.ErrorIs(t, err, tenant.ErrNotFound)
	require.NoError(t, m.Delete(ctx, "acme"), "who moved it away may delete it")
	require.NoError(t, m.Undelete(ctx, "acme"))
	run(t, m, "acme", "put a {b: 1}")
}

func TestFreezeEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gated(t, tenant.Options{IdleClose: -1}, "acme")
		defer m.Close()
		freeze := func(d time.Duration) {
			t.Helper()
			_, err := m.Freeze(context.Background(), "acme", d)
			require.NoError(t, err)
		}
		frozen := func() bool { return m.Opened()[0].Frozen }
		freeze(time.Minute)
		time.Sleep(59 * time.Second)
		require.True(t, frozen())
		freeze(time.Minute) // anew
		time.Sleep(59 * time.Second)
		require.True(t, frozen())
		time.Sleep(2 * time.Second)
		require.False(t, frozen())

		freeze(time.Minute)
		freeze(0) // without an end
		time.Sleep(time.Hour)
		require.True(t, frozen())
		require.NoError(t, m.Thaw(context.Background(), "acme"))

		freeze(time.Minute)
		require.NoError(t, m.Thaw(context.Background(), "acme"))
		freeze(0)
		time.Sleep(time.Hour)
		require.True(t, frozen(), "the timer of another freeze ends nothing")
	})
}

// TestFreezeWaitsForTheWriter has a write under way: it is in what the freeze tells.
func TestFreezeWaitsForTheWriter(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection a (b int)")
	h := acquire(t, m, "acme")
	defer h.Release()
	began, goOn := make(chan struct{}), make(chan struct{})
	wrote := make(chan uint64)
	go func() {
		seq, err := h.Update(context.Background(), func(tx *fenec.Tx) error {
			close(began)
			<-goOn
			_, err := tx.Exec(context.Background(), "put a {b: 1}")
			return err
		})
		if err != nil {
			seq = 0
		}
		wrote <- seq
	}()
	<-began
	short, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := m.Freeze(short, "acme", 0)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, m.Opened()[0].Frozen, "a freeze that failed is none")
	frozen := make(chan uint64)
	go func() {
		f, _ := m.Freeze(context.Background(), "acme", 0)
		frozen <- f.Seq
	}()
	for !m.Opened()[0].Frozen {
		select {
		case <-frozen:
			require.Fail(t, "it did not wait")
		default:
		}
	}
	close(goOn)
	seq := <-wrote
	require.Positive(t, seq)
	require.Equal(t, seq, <-frozen)
}

// TestFreezeAfterAFreeze has a write under way that began after an earlier freeze was over:
// it lands all the same, and none after it.
func TestFreezeAfterAFreeze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gated(t, tenant.Options{IdleClose: -1}, "acme")
		defer m.Close()
		h := acquire(t, m, "acme")
		defer h.Release()
		for range 3 {
			goOn, wrote, frozen := make(chan struct{}), make(chan error, 1), make(chan uint64, 1)
			go func() {
				_, err := h.Update(context.Background(), func(tx *fenec.Tx) error {
					<-goOn
					_, err := tx.Exec(context.Background(), "put a {b: 1}")
					return err
				})
				wrote <- err
			}()
			synctest.Wait()
			before := h.Seq()
			go func() {
				f, _ := m.Freeze(context.Background(), "acme", 0)
				frozen <- f.Seq
			}()
			synctest.Wait()
			close(goOn)
			require.NoError(t, <-wrote)
			require.Equal(t, before+1, <-frozen)
			_, err := h.Exec(t.Context(), "put a {b: 2}")
			require.ErrorIs(t, err, tenant.ErrFrozen)
			require.NoError(t, m.Thaw(t.Context(), "acme"))
		}
	})
}

// writing begins a write, and returns how it is ended.
func writing(t *testing.T, h *tenant.Handle) (end func()) {
	t.Helper()
	began, goOn, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_, _ = h.Update(context.Background(), func(*fenec.Tx) error { close(began); <-goOn; return nil })
	}()
	<-began
	return func() { close(goOn); <-over }
}

// TestFreezesThatOverlap has a freeze that holds, though another that was at it comes to
// nothing, before or after.
func TestFreezesThatOverlap(t *testing.T) {
	for _, failsFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := gated(t, tenant.Options{IdleClose: -1}, "acme")
			defer m.Close()
			h := acquire(t, m, "acme")
			defer h.Release()
			end := writing(t, h)
			short, cancel := context.WithCancel(t.Context())
			failed, held := make(chan error, 1), make(chan error, 1)
			freeze := func(ctx context.Context, got chan error) {
				_, err := m.Freeze(ctx, "acme", 0)
				got <- err
			}
			go freeze(short, failed)
			synctest.Wait()
			go freeze(t.Context(), held)
			synctest.Wait()
			if failsFirst {
				cancel()
				require.ErrorIs(t, <-failed, context.Canceled)
				require.True(t, m.Opened()[0].Frozen)
				end()
				require.NoError(t, <-held)
			} else {
				end()
				require.NoError(t, <-held)
				<-failed
				cancel()
			}
			_, err := h.Exec(t.Context(), "put a {b: 1}")
			require.ErrorIs(t, err, tenant.ErrFrozen)

			canceled, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = m.Freeze(canceled, "acme", time.Second)
			require.ErrorIs(t, err, context.Canceled)
			time.Sleep(time.Minute)
			require.True(t, m.Opened()[0].Frozen, "it is as frozen as it was")

			require.NoError(t, m.Thaw(t.Context(), "acme"))
			_, err = m.Freeze(t.Context(), "acme", -time.Second)
			require.ErrorContains(t, err, "negative")
			require.False(t, m.Opened()[0].Frozen)
			_, err = h.Exec(t.Context(), "put a {b: 1}")
			require.NoError(t, err)
		})
	}
}
