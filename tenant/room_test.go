package tenant_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// Whoever waits for a database to become idle is told, however it does.
func TestWhatMakesRoom(t *testing.T) {
	for name, c := range map[string]struct {
		step  string // that holds acme up
		holds func(*tenant.Manager) error
	}{
		"a file beside it is written": {"beside: write", func(m *tenant.Manager) error {
			return m.WriteBeside(context.Background(), "acme", tenant.QuotaFile, []byte("{}"))
		}},
		"its status is set": {"status", func(m *tenant.Manager) error {
			return m.SetStatus(context.Background(), "acme", tenant.Degraded)
		}},
		"a freeze runs out": {"", func(m *tenant.Manager) error {
			_, err := m.Freeze(context.Background(), "acme", 50*time.Millisecond)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			create(t, dir, "acme", "beta")
			held, goOn := make(chan struct{}), make(chan struct{})
			opts := tenant.Options{MaxOpen: 1, Wait: time.Minute}
			m := open(t, dir, opts.WithStep(func(step string) {
				if step == c.step {
					close(held)
					<-goOn
				}
			}))
			run(t, m, "acme", "get a")
			done := make(chan error, 1)
			go func() { done <- c.holds(m) }()
			if c.step != "" {
				<-held
			} else {
				require.NoError(t, <-done)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			got := make(chan error, 1)
			go func() {
				h, err := m.Acquire(ctx, "beta")
				if err == nil {
					h.Release()
				}
				got <- err
			}()
			require.Eventually(t, func() bool { return m.Waiting() == 1 || len(got) == 1 }, 5*time.Second, time.Millisecond)
			if c.step != "" {
				require.Empty(t, got)
				close(goOn)
				require.NoError(t, <-done)
			}
			require.NoError(t, <-got)
		})
	}
}
