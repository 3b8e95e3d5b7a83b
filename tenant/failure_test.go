//go:build linux || darwin

package tenant_test

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// fullDisk has, in the environment of a child, the directory that it writes to until it
// must not any more.
const fullDisk = "FENEC_TEST_FULL_DISK"

// TestAFullDisk has writes refused for a while. The tenant can be written to afterwards.
func TestAFullDisk(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^TestAFullDiskChild$")
	child.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestAFullDiskChild is the child of TestAFullDisk.
func TestAFullDiskChild(t *testing.T) {
	dir := os.Getenv(fullDisk)
	if dir == "" {
		t.Skip("for a child process")
	}
	signal.Ignore(syscall.SIGXFSZ)
	ctx := t.Context()
	m := open(t, dir, tenant.Options{DB: fenec.Options{Sync: fenec.SyncAlways}})
	for _, name := range []string{"acme", "beta"} {
		require.NoError(t, m.Create(ctx, name))
		run(t, m, name, "create collection a (b int)")
		run(t, m, name, "put a {b: 1}")
	}
	h := acquire(t, m, "acme")
	fill(t, h)
	_, err := h.Exec(ctx, "put a {b: 3}")
	require.ErrorIs(t, err, fenec.ErrFailed, "though there is room again")
	list := m.Degraded()
	require.Len(t, list, 1)
	require.Equal(t, "acme", list[0].Name)
	require.ErrorIs(t, list[0].Err, fenec.ErrFailed)
	status, err := m.Status(ctx, "acme")
	require.NoError(t, err)
	require.Equal(t, tenant.Active, status, "it is read all the same")
	_, err = h.Query(ctx, "get a")
	require.NoError(t, err)

	// A subscription does not keep it open.
	sub, err := h.Subscribe(ctx, fenec.Shape{Collection: "a"}, fenec.NoCursor)
	require.NoError(t, err)
	followed := make(chan error)
	go func() {
		_, err := sub.Next(context.Background())
		for err == nil {
			_, err = sub.Next(context.Background())
		}
		h.Release()
		followed <- err
	}()
	now := time.Now()
	m.CloseIdle(now)
	require.ErrorIs(t, <-followed, tenant.ErrEnded)
	require.Equal(t, 1, run(t, m, "acme", "put a {b: 4}"))
	require.Empty(t, m.Degraded())
	require.Equal(t, 2, count(t, m, "acme", "a"), "what was answered, and nothing else")

	// A frozen one stays as it is until it is thawed.
	h = acquire(t, m, "beta")
	_, err = m.Freeze(ctx, "beta", 0)
	require.NoError(t, err)
	require.NoError(t, m.Thaw(ctx, "beta"))
	fill(t, h)
	h.Release()
	require.Len(t, m.Degraded(), 1)
	m.CloseIdle(now.Add(time.Minute))
	closed := func() bool { return len(m.Degraded()) == 0 }
	require.Eventually(t, closed, 10*time.Second, time.Millisecond, "in the background")
	run(t, m, "beta", "put a {b: 4}")
}

// fill writes until the disk takes no more, and makes room again.
func fill(t *testing.T, h *tenant.Handle) {
	t.Helper()
	var were syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &were))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: were.Max}))
	_, err := h.Exec(t.Context(), "put a {b: 2}")
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &were))
	require.ErrorIs(t, err, fenec.ErrFailed)
}
