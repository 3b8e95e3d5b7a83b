package tenant_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// TestLongScansOfOneTenant has one tenant ask for long scans, many at once, all the time,
// while others ask for little, once a millisecond: of 100 of their requests 99 take at most
// three times as long as without it, and a moment. It takes the time of a machine that does
// little else, and so runs only when asked for.
func TestLongScansOfOneTenant(t *testing.T) {
	if os.Getenv("FENEC_LONG") == "" {
		t.Skip("set FENEC_LONG to run it")
	}
	m := open(t, t.TempDir(), tenant.Options{MaxInFlight: 4, MaxInFlightTenant: 1, Wait: time.Minute, DB: fenec.Options{Sync: fenec.SyncOff}})
	quiet := []string{"a", "b", "c"}
	for _, name := range append(quiet, "noisy") {
		require.NoError(t, m.Create(t.Context(), name))
		run(t, m, name, "create collection a (b int, s text)")
	}
	h := acquire(t, m, "noisy")
	_, err := h.Load(t.Context(), "put a {b: $1, s: $2}", func(yield func([]any, error) bool) {
		for i := range 100_000 {
			if !yield([]any{i, fmt.Sprint("some text ", i)}, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	h.Release()
	for _, name := range quiet {
		for i := range 100 {
			run(t, m, name, fmt.Sprintf(`put a {b: %d, s: "x"}`, i))
		}
	}
	slowest(t, m, quiet) // to warm up
	alone := slowest(t, m, quiet)
	ctx, stop := context.WithCancel(t.Context())
	var noise sync.WaitGroup
	scans := make(chan struct{}, 1<<20)
	for range 8 {
		noise.Go(func() {
			for ctx.Err() == nil {
				if h, err := m.Acquire(ctx, "noisy"); err == nil {
					_, _ = h.Query(ctx, `get a where s = "nothing" or b < 0`)
					h.Release()
					scans <- struct{}{}
				}
			}
		})
	}
	beside := slowest(t, m, quiet)
	stop()
	noise.Wait()
	t.Logf("the 99th of 100: %v alone, %v beside %d scans", alone, beside, len(scans))
	require.NotEmpty(t, scans)
	const moment = 2 * time.Millisecond // for a core to be free
	require.LessOrEqual(t, beside, 3*alone+moment)
}

// slowest has tenants ask for a row each once a millisecond, all at once, and returns how
// long the 99th of 100 takes, from when it was due.
func slowest(t *testing.T, m *tenant.Manager, names []string) time.Duration {
	t.Helper()
	const each = 1000
	took := make([][]time.Duration, len(names))
	failed := make(chan error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			due := time.Now()
			for k := range each {
				due = due.Add(time.Millisecond)
				<-time.After(time.Until(due))
				h, err := m.Acquire(context.Background(), name)
				if err == nil {
					_, err = h.Query(context.Background(), "get a where id = $1", k%100+1)
					h.Release()
				}
				if err != nil {
					failed <- err
					return
				}
				took[i] = append(took[i], time.Since(due))
			}
		})
	}
	all.Wait()
	require.Empty(t, failed)
	list := slices.Concat(took...)
	slices.Sort(list)
	return list[len(list)*99/100]
}
