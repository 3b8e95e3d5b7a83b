package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

func open(t *testing.T, dir string, opts tenant.Options) *tenant.Manager {
	t.Helper()
	m, err := tenant.Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// files returns the names of all files below dir but the manager's own, sorted.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".node.") {
			name, err := filepath.Rel(dir, path)
			names = append(names, name)
			return err
		}
		return err
	}))
	return names
}

func run(t *testing.T, m *tenant.Manager, name, text string, args ...any) int {
	t.Helper()
	h, err := m.Acquire(t.Context(), name)
	require.NoError(t, err)
	defer h.Release()
	n, err := h.Exec(t.Context(), text, args...)
	require.NoError(t, err)
	return n
}

func TestTenantsLiveInTheirOwnFiles(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	for _, name := range []string{"beta", "acme"} {
		require.NoError(t, m.Create(t.Context(), name))
		run(t, m, name, "create collection notes (who text)")
		run(t, m, name, "put notes {who: $1}", name)
	}
	names, err := m.List()
	require.NoError(t, err)
	require.Equal(t, []string{"acme", "beta"}, names)
	require.ErrorIs(t, m.Create(t.Context(), "acme"), tenant.ErrExists)
	require.NoError(t, m.Close())

	m = open(t, dir, tenant.Options{})
	h, err := m.Acquire(t.Context(), "beta")
	require.NoError(t, err)
	require.Equal(t, "beta", h.ID().String())
	res, err := h.Query(t.Context(), "get notes")
	require.NoError(t, err)
	require.True(t, res.Next())
	who, err := res.Row().Text("who")
	require.NoError(t, err)
	require.Equal(t, "beta", who)
	h.Release()
	h.Release()
	_, err = h.Query(t.Context(), "get notes")
	require.ErrorIs(t, err, tenant.ErrReleased)
}

func TestUnknownNames(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	for i := range 100 {
		_, err := m.Acquire(t.Context(), fmt.Sprint("t", i))
		require.ErrorIs(t, err, tenant.ErrNotFound)
	}
	require.ErrorIs(t, m.Delete(t.Context(), "nope"), tenant.ErrNotFound)
	require.Empty(t, files(t, dir))
	require.Zero(t, m.Slots())
	st, err := m.Stats()
	require.NoError(t, err)
	require.Zero(t, st)
}

func TestDamagedTenantLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "good"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.fenec"), make([]byte, 20000), 0o600))
	_, err := m.Acquire(t.Context(), "bad")
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	require.ErrorContains(t, err, "bad")
	run(t, m, "good", "create collection a (b int)")
	require.NoError(t, m.Delete(t.Context(), "bad"))
	require.NoFileExists(t, filepath.Join(dir, "bad.fenec"))
}

func TestDeleteWaitsForUsers(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{DeleteWait: time.Millisecond})
	require.NoError(t, m.Create(t.Context(), "acme"))
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	require.ErrorIs(t, m.Delete(t.Context(), "acme"), tenant.ErrBusy)
	_, err = h.Exec(t.Context(), "create collection a (b int)")
	require.NoError(t, err, "a refused delete changes nothing")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Delete(ctx, "acme"), context.Canceled)
	h.Release()
	require.NoError(t, m.Delete(t.Context(), "acme"))
	_, err = m.Acquire(t.Context(), "acme")
	require.ErrorIs(t, err, tenant.ErrNotFound)
	require.NoError(t, m.Create(t.Context(), "acme"))
	require.Zero(t, run(t, m, "acme", "create collection a (b int)"))
}

func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.fenec.importing", "123.b.fenec.creating", "c.fenec.image-1", "d.quota.writing", "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	m := open(t, dir, tenant.Options{})
	names, err := m.List()
	require.NoError(t, err)
	require.Empty(t, names)
	require.Equal(t, []string{"notes.txt"}, files(t, dir))
}

func TestStatsAndSizes(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	require.NoError(t, m.Create(t.Context(), "beta"))
	run(t, m, "acme", "create collection a (b int)")
	st, err := m.Stats()
	require.NoError(t, err)
	sizes, err := m.Sizes()
	require.NoError(t, err)
	require.Equal(t, 2, st.Tenants)
	require.Equal(t, 2, st.Open)
	require.Equal(t, st.Disk, sizes["acme"]+sizes["beta"])
	require.Greater(t, sizes["acme"], sizes["beta"], "acme has a log")
	require.Positive(t, st.Memory)
}

func TestClosedManager(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	require.NoError(t, m.Close())
	_, err = h.Query(t.Context(), "collections")
	require.ErrorIs(t, err, fenec.ErrClosed)
	h.Release()
	_, err = m.Acquire(t.Context(), "acme")
	require.ErrorIs(t, err, tenant.ErrClosed)
	require.ErrorIs(t, m.Create(t.Context(), "x"), tenant.ErrClosed)
	require.ErrorIs(t, m.Delete(t.Context(), "acme"), tenant.ErrClosed)
	require.NoError(t, m.Close())
}

// TestIdleClosingLosesNothing lets writers race with an idle pass that finds
// everything idle at once.
func TestIdleClosingLosesNothing(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{IdleClose: time.Nanosecond})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection rows (n int @unique)")
	const writers, each = 4, 50
	stop := make(chan struct{})
	var idle sync.WaitGroup
	idle.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				m.CloseIdle(time.Now().Add(time.Hour))
			}
		}
	})
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() { errs <- write(m, w*each, each) })
	}
	wg.Wait()
	close(stop)
	idle.Wait()
	for range writers {
		require.NoError(t, <-errs)
	}
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	defer h.Release()
	res, err := h.Query(t.Context(), "get rows")
	require.NoError(t, err)
	require.Equal(t, writers*each, res.Len())
}

func write(m *tenant.Manager, from, n int) error {
	ctx := context.Background()
	for i := range n {
		h, err := m.Acquire(ctx, "acme")
		if err != nil {
			return err
		}
		_, err = h.Exec(ctx, "insert rows {n: $1}", from+i)
		h.Release()
		if err != nil {
			return errors.Join(fmt.Errorf("row %d", from+i), err)
		}
	}
	return nil
}

func TestIdleTenantsClose(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{IdleClose: time.Hour})
	require.NoError(t, m.Create(t.Context(), "idle"))
	require.NoError(t, m.Create(t.Context(), "used"))
	h, err := m.Acquire(t.Context(), "used")
	require.NoError(t, err)
	m.CloseIdle(time.Now())
	st, _ := m.Stats()
	require.Equal(t, 2, st.Open, "used too recently")
	m.CloseIdle(time.Now().Add(2 * time.Hour))
	st, _ = m.Stats()
	require.Equal(t, 1, st.Open, "what is held stays open")
	h.Release()
	m.CloseIdle(time.Now().Add(2 * time.Hour))
	st, _ = m.Stats()
	require.Zero(t, st.Open)
}

func TestConcurrentDeletes(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	const deletes = 4
	errs := make(chan error, deletes)
	for range deletes {
		go func() { errs <- m.Delete(context.Background(), "acme") }()
	}
	h.Release()
	done := 0
	for range deletes {
		if err := <-errs; err == nil {
			done++
		} else {
			require.ErrorIs(t, err, tenant.ErrNotFound)
		}
	}
	require.Equal(t, 1, done)
}

// TestCloseLeavesNothingOpen closes the manager beside callers that acquire.
func TestCloseLeavesNothingOpen(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{})
	const tenants = 8
	name := func(i int) string { return fmt.Sprint("t", i) }
	for i := range tenants {
		require.NoError(t, m.Create(t.Context(), name(i)))
	}
	m.CloseIdle(time.Now().Add(time.Hour))
	var wg sync.WaitGroup
	began := make(chan struct{}, tenants)
	for i := range tenants {
		wg.Go(func() {
			began <- struct{}{}
			for {
				h, err := m.Acquire(context.Background(), name(i))
				if err != nil {
					return
				}
				h.Release()
			}
		})
	}
	for range tenants {
		<-began
	}
	require.NoError(t, m.Close())
	wg.Wait()
	for i := range tenants {
		db, err := fenec.Open(filepath.Join(dir, name(i)+".fenec"), fenec.Options{MustExist: true})
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}

func TestFailedCreateLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{DB: fenec.Options{FrontBytes: -1}})
	require.Error(t, m.Create(t.Context(), "acme"))
	require.Empty(t, files(t, dir))
}

func TestDeleteOfADamagedTenantThatIsOpen(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, tenant.Options{DB: fenec.Options{Sync: fenec.SyncOff}})
	require.NoError(t, m.Create(t.Context(), "acme"))
	run(t, m, "acme", "create collection a (b int)")
	require.NoError(t, os.Truncate(filepath.Join(dir, "acme.fenec"), 5000))
	require.NoError(t, m.DeleteNow(t.Context(), "acme"))
	require.Empty(t, files(t, dir))
}

// Every database that was opened is shown once more before it is closed, however that
// comes about, and can still be asked then.
func TestOnClose(t *testing.T) {
	var mu sync.Mutex
	open, shown := map[string]int{}, map[string]int{}
	m, err := tenant.Open(t.TempDir(), tenant.Options{
		MaxOpen: 2,
		OnOpen: func(id tenant.ID, _ *fenec.DB) error {
			mu.Lock()
			defer mu.Unlock()
			open[id.String()]++
			return nil
		},
		OnClose: func(id tenant.ID, db *fenec.DB) {
			_, err := db.Stats()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				shown[id.String()]++
			}
		},
	})
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "c", "d"} {
		require.NoError(t, m.Create(t.Context(), name))
	}
	m.CloseIdle(time.Now().Add(time.Hour))
	acquire(t, m, "a").Release()
	require.NoError(t, m.Rename(t.Context(), "a", "e"))
	acquire(t, m, "b").Release()
	require.NoError(t, m.DeleteNow(t.Context(), "b"))
	acquire(t, m, "c").Release()
	require.NoError(t, m.Close())
	require.Equal(t, map[string]int{"a": 2, "b": 2, "c": 2, "d": 1}, open)
	require.Equal(t, open, shown)
}
