//go:build linux || darwin

package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

// fewFiles has, in the environment of a child, how many files it may have open, and how
// many it has before it opens tenants.
const fewFiles = "FENEC_TEST_FEW_FILES"

// TestFewFiles opens more tenants than the process has descriptors for, and uses all
// of those that opened. What is too much is refused, with words that say what to do, and
// everything else works: the process never runs out.
func TestFewFiles(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		job, says string
	}{
		"by the limit that Open has found": {"320 0", "databases are open and in use, which is MaxOpen"},
		"by what others have taken since":  {"400 310", "ulimit -n"},
	} {
		t.Run(name, func(t *testing.T) {
			child := exec.Command(os.Args[0], "-test.run=^TestFewFilesChild$")
			child.Env = append(os.Environ(), fewFiles+"="+c.job+" "+dir)
			out, err := child.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), c.says)
		})
	}
}

// TestFewFilesChild is the child of TestFewFiles.
func TestFewFilesChild(t *testing.T) {
	job := os.Getenv(fewFiles)
	if job == "" {
		t.Skip("for a child process")
	}
	var limit uint64
	var taken int
	var dir string
	_, err := fmt.Sscan(job, &limit, &taken, &dir)
	require.NoError(t, err)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: limit}))
	_, err = tenant.Open(dir, tenant.Options{MaxOpen: int(limit)})
	require.ErrorContains(t, err, "ulimit -n is "+fmt.Sprint(limit))
	m, err := tenant.Open(dir, tenant.Options{Wait: 50 * time.Millisecond})
	require.NoError(t, err)
	var others []*os.File
	for range taken {
		f, err := os.Open(os.DevNull)
		require.NoError(t, err)
		others = append(others, f)
	}
	handles, refused := holdAll(t, m)
	require.ErrorIs(t, refused, tenant.ErrBusy)
	require.NotEmpty(t, handles)
	fmt.Println(refused)
	for i, h := range handles {
		_, err := h.Exec(t.Context(), "create collection if not exists a (b int)")
		require.NoError(t, err, "tenant %d of %d", i, len(handles))
		_, err = h.Exec(t.Context(), "put a {b: 1}")
		require.NoError(t, err)
	}
	require.Empty(t, m.Degraded(), "nothing is wrong with any tenant")
	for _, h := range handles {
		h.Release()
	}
	for _, f := range others {
		require.NoError(t, f.Close())
	}
	require.NoError(t, m.Each(t.Context(), nil, func(ctx context.Context, h *tenant.Handle) error {
		_, err := h.Query(ctx, "collections")
		return err
	}))
	require.NoError(t, m.Close())
}

// holdAll takes handles of ever more tenants, until one is refused.
func holdAll(t *testing.T, m *tenant.Manager) (handles []*tenant.Handle, refused error) {
	for i := range 1000 {
		name := fmt.Sprintf("t%03d", i)
		err := m.Create(t.Context(), name)
		if err == nil || errors.Is(err, tenant.ErrExists) {
			var h *tenant.Handle
			if h, err = m.Acquire(t.Context(), name); err == nil {
				handles = append(handles, h)
				continue
			}
		}
		require.False(t, strings.Contains(err.Error(), "panic"))
		return handles, err
	}
	return handles, nil
}
