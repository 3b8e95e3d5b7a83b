package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// openNames returns which databases are open.
func openNames(m *tenant.Manager) (names []string) {
	for _, o := range m.Opened() {
		names = append(names, o.Name)
	}
	return names
}

// create makes tenants that are closed.
func create(t *testing.T, dir string, names ...string) {
	t.Helper()
	m, err := tenant.Open(dir, tenant.Options{})
	require.NoError(t, err)
	for _, name := range names {
		require.NoError(t, m.Create(t.Context(), name))
		run(t, m, name, "create collection a (b int)")
	}
	require.NoError(t, m.Close())
}

func TestAHerdOpensOnce(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, "acme")
	var opens atomic.Int32
	m := open(t, dir, tenant.Options{OnOpen: func(tenant.ID, *fenec.DB) error { opens.Add(1); return nil }})
	const herd = 1000
	errs := make(chan error, herd)
	start := make(chan struct{})
	for range herd {
		go func() {
			<-start
			h, err := m.Acquire(context.Background(), "acme")
			if err == nil {
				_, err = h.Query(context.Background(), "get a limit 1")
				h.Release()
			}
			errs <- err
		}()
	}
	close(start)
	for range herd {
		require.NoError(t, <-errs)
	}
	require.EqualValues(t, 1, opens.Load())
	require.Equal(t, 1, m.Slots())
}

// TestASlowOpenHoldsUpNobodyElse has a tenant that does not come to be open.
func TestASlowOpenHoldsUpNobodyElse(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, "slow", "quick")
	opening, goOn := make(chan struct{}), make(chan struct{})
	m := open(t, dir, tenant.Options{OnOpen: func(id tenant.ID, _ *fenec.DB) error {
		if id.String() == "slow" {
			close(opening)
			<-goOn
		}
		return nil
	}})
	opened := make(chan error)
	go func() {
		h, err := m.Acquire(context.Background(), "slow")
		if err == nil {
			h.Release()
		}
		opened <- err
	}()
	<-opening
	acquire(t, m, "quick").Release()
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := m.Acquire(short, "slow")
	require.ErrorIs(t, err, context.DeadlineExceeded, "who waits for it may go")
	close(goOn)
	require.NoError(t, <-opened)
}

func TestLeastRecentlyUsedCloseFirst(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "b", "c", "d", "e"}
	create(t, dir, names...)
	now := &clock{time.UnixMilli(0)}
	m := open(t, dir, tenant.Options{MaxOpen: 3, Wait: time.Millisecond, Clock: now.Now, IdleClose: -1})
	use := func(name string) {
		t.Helper()
		now.now = now.now.Add(time.Millisecond)
		require.Equal(t, 1, run(t, m, name, "put a {b: 1}"))
	}
	use("b")
	use("a")
	use("c")
	use("b")
	use("d")
	require.Equal(t, []string{"b", "c", "d"}, openNames(m), "a was used longest ago")
	use("c")
	use("a")
	require.Equal(t, []string{"a", "c", "d"}, openNames(m))

	require.NoError(t, m.Create(t.Context(), "new"))
	use("a")
	use("e")
	require.Equal(t, []string{"a", "e", "new"}, openNames(m), "to be made is to be used")
	require.NoError(t, m.DeleteNow(t.Context(), "new"))
	use("c")
	use("d")

	// What is held does not close, however long ago it was used.
	held := []*tenant.Handle{acquire(t, m, "d"), acquire(t, m, "c")}
	use("e")
	require.Equal(t, []string{"c", "d", "e"}, openNames(m), "d and c are held")
	held = append(held, acquire(t, m, "e"))
	_, err := m.Acquire(t.Context(), "a")
	require.ErrorIs(t, err, tenant.ErrBusy)
	require.ErrorIs(t, m.Create(t.Context(), "f"), tenant.ErrBusy)
	require.NoFileExists(t, filepath.Join(dir, "f.fenec"))
	_, err = m.Acquire(t.Context(), "nope")
	require.ErrorIs(t, err, tenant.ErrNotFound, "nothing waits or closes for a name that is nobody's")
	for _, h := range held {
		h.Release()
	}
	for _, name := range names {
		require.Positive(t, count(t, m, name, "a"), "what is closed comes back whole")
	}
}

// TestLogsDoNotPileUp has a tenant that is always closed in a hurry.
func TestLogsDoNotPileUp(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, "a", "b")
	m := open(t, dir, tenant.Options{MaxOpen: 1, DB: fenec.Options{Sync: fenec.SyncOff}})
	log := filepath.Join(dir, "a.fenec-log")
	run(t, m, "a", "put a {b: 1}")
	acquire(t, m, "b").Release()
	require.FileExists(t, log, "closed quickly")
	run(t, m, "a", "create collection large (body text)")
	run(t, m, "a", "put large {body: $1}", strings.Repeat("x", 300<<10))
	acquire(t, m, "b").Release()
	require.NoFileExists(t, log, "else the next open would take long")
	require.Equal(t, 1, count(t, m, "a", "large"))
}

func TestAnOpenWaitsItsTurn(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, "a", "b")
	m := open(t, dir, tenant.Options{MaxOpen: 1, Wait: time.Minute})
	h := acquire(t, m, "a")
	got := make(chan error)
	go func() {
		h, err := m.Acquire(context.Background(), "b")
		if err == nil {
			h.Release()
		}
		got <- err
	}()
	for m.Waiting() == 0 {
		select {
		case err := <-got:
			require.Fail(t, "it did not wait", err)
		default:
		}
	}
	h.Release()
	require.NoError(t, <-got)
	require.Equal(t, []string{"b"}, openNames(m))
}

func TestMaxMemory(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, "a", "b", "c")
	now := &clock{time.UnixMilli(0)}
	m := open(t, dir, tenant.Options{MaxMemory: 1, Clock: now.Now, DB: fenec.Options{MaxMemory: 1 << 30}})
	run(t, m, "a", "put a {b: 1}")
	now.now = now.now.Add(time.Millisecond)
	run(t, m, "b", "put a {b: 1}")
	require.Equal(t, []string{"b"}, openNames(m))
	h := acquire(t, m, "b")
	acquire(t, m, "c").Release()
	require.Equal(t, []string{"b", "c"}, openNames(m), "over the bound, but it opens")
	h.Release()
	m.CloseIdle(now.now)
	require.Empty(t, openNames(m), "it is looked at when nothing is opened, too")
	require.Equal(t, 1, count(t, m, "a", "a"))

	m2 := open(t, t.TempDir(), tenant.Options{MaxMemory: 1})
	require.NoError(t, m2.Create(t.Context(), "a"))
	run(t, m2, "a", "create collection a (b int)")
	h = acquire(t, m2, "a")
	defer h.Release()
	var err error
	for range 3 {
		_, err = h.Exec(t.Context(), "put a {b: 1}")
	}
	require.ErrorIs(t, err, fenec.ErrMemory)
}

func TestMaxOpenByTheProcessLimits(t *testing.T) {
	for _, c := range []struct{ files, maps, want int64 }{
		{1024, 65530, 384},
		{20256, 65530, 10000},
		{1 << 20, 65530, 30717},
		{258, 65530, 1},
	} {
		var o tenant.Options
		require.NoError(t, o.SetMaxOpen(c.files, c.maps))
		require.EqualValues(t, c.want, o.MaxOpen)
		kept := tenant.Options{KeepFiles: 924}
		require.NoError(t, kept.SetMaxOpen(1024, c.maps))
		require.Equal(t, 50, kept.MaxOpen)
		o.MaxOpen++
		err := o.SetMaxOpen(c.files, c.maps)
		require.ErrorContains(t, err, "ulimit -n")
		require.ErrorContains(t, err, "vm.max_map_count")
	}
	var o tenant.Options
	require.ErrorContains(t, o.SetMaxOpen(100, 65530), "ulimit -n")
	one := tenant.Options{MaxOpen: 1}
	require.NoError(t, one.SetMaxOpen(100, 65530), "who asks for one has one")
}

func TestNegativeOptions(t *testing.T) {
	for _, o := range []tenant.Options{{MaxOpen: -1}, {KeepFiles: -1}, {MaxMemory: -1}, {Opens: -1}, {MaxInFlight: -1}, {MaxInFlightTenant: -1}, {Wait: -1}, {DeleteWait: -1}, {MaxImport: -1}} {
		_, err := tenant.Open(t.TempDir(), o)
		require.ErrorContains(t, err, "options:")
	}
}

// TestTheProcessRunsOut has opens that fail for want of descriptors.
func TestTheProcessRunsOut(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, "a", "b")
	out := false
	m := open(t, dir, tenant.Options{OnOpen: func(id tenant.ID, _ *fenec.DB) error {
		if out && id.String() == "b" {
			return &os.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}
		}
		return nil
	}})
	acquire(t, m, "a").Release()
	out = true
	_, err := m.Acquire(t.Context(), "b")
	require.ErrorIs(t, err, tenant.ErrBusy)
	require.ErrorContains(t, err, "ulimit -n")
	require.Empty(t, openNames(m), "the idle one was closed for it")
	require.Empty(t, m.Degraded(), "nothing is wrong with the tenant")
	out = false
	acquire(t, m, "b").Release()
}

func TestEach(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("t%02d", i))
	}
	create(t, dir, names...)
	m := open(t, dir, tenant.Options{Opens: 3, MaxOpen: 4})
	require.NoError(t, m.SetStatus(t.Context(), "t03", tenant.Degraded))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.fenec"), make([]byte, 9000), 0o600))
	acquire(t, m, "t01").Release() // open before, and after

	wrong := errors.New("wrong")
	var mu sync.Mutex
	visited := map[string]int{}
	running, most := 0, 0
	err := m.Each(t.Context(), func(id tenant.ID) bool { return id.String() != "t02" }, func(ctx context.Context, h *tenant.Handle) error {
		mu.Lock()
		running++
		most = max(most, running)
		visited[h.ID().String()]++
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		if _, err := h.Exec(ctx, "put a {b: 1}"); err != nil {
			return err
		}
		switch h.ID().String() {
		case "t05":
			return wrong
		case "t06":
			panic("out of hand")
		}
		return nil
	})
	require.ErrorIs(t, err, wrong)
	require.ErrorContains(t, err, `tenant "t05"`)
	require.ErrorContains(t, err, `tenant "t06": panic: out of hand`)
	require.Len(t, visited, 10)
	require.LessOrEqual(t, most, 3)
	require.Equal(t, []string{"t01"}, openNames(m))

	ctx, cancel := context.WithCancel(t.Context())
	visits := 0
	err = m.Each(ctx, nil, func(context.Context, *tenant.Handle) error {
		mu.Lock()
		defer mu.Unlock()
		visits++
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.LessOrEqual(t, visits, 4)
}

// TestEachLeavesNobodyOut has fewer places than tenants that would be visited at once, and
// visits that take longer than anybody waits for a place.
func TestEachLeavesNobodyOut(t *testing.T) {
	for name, o := range map[string]tenant.Options{
		"open": {MaxOpen: 2}, "in flight": {MaxInFlight: 2}, "one": {MaxOpen: 1, MaxInFlight: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for i := range 6 {
				names = append(names, fmt.Sprint("t", i))
			}
			dir := t.TempDir()
			create(t, dir, names...)
			o.Wait = 20 * time.Millisecond
			m := open(t, dir, o)
			var visits atomic.Int32
			require.NoError(t, m.Each(t.Context(), nil, func(context.Context, *tenant.Handle) error {
				visits.Add(1)
				<-time.After(3 * o.Wait)
				return nil
			}))
			require.EqualValues(t, len(names), visits.Load())
		})
	}
}

// TestEachOutlivesItsFunction has a function that ends its goroutine, as a test's FailNow
// does.
func TestEachOutlivesItsFunction(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, "a", "b", "c")
	m := open(t, dir, tenant.Options{Opens: 1})
	var visits atomic.Int32
	err := m.Each(t.Context(), nil, func(context.Context, *tenant.Handle) error {
		visits.Add(1)
		runtime.Goexit()
		return nil
	})
	require.ErrorContains(t, err, `tenant "b": the function has ended its goroutine`)
	require.EqualValues(t, 3, visits.Load())
	require.NoError(t, m.Delete(t.Context(), "a"), "nothing holds it")
}

func TestDo(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	require.NoError(t, m.Create(t.Context(), "acme"))
	id, err := m.Lookup(t.Context(), "acme")
	require.NoError(t, err)
	var kept *tenant.Handle
	require.NoError(t, m.Do(t.Context(), id, func(ctx context.Context, h *tenant.Handle) error {
		got, _ := tenant.FromContext(ctx)
		require.Same(t, h, got)
		kept = h
		return nil
	}))
	_, err = kept.Query(t.Context(), "collections")
	require.ErrorIs(t, err, tenant.ErrReleased)
	require.NoError(t, m.Delete(t.Context(), "acme"))
	require.ErrorIs(t, m.Do(t.Context(), id, nil), tenant.ErrNotFound)
}

// TestCloseTakesItsTime folds what there is time for; the rest is in the logs.
func TestCloseTakesItsTime(t *testing.T) {
	for _, c := range []struct {
		wait time.Duration
		want []string
	}{{time.Minute, []string{"a.fenec"}}, {-1, []string{"a.fenec", "a.fenec-log"}}} {
		dir := t.TempDir()
		m, err := tenant.Open(dir, tenant.Options{CloseWait: c.wait, DB: fenec.Options{Sync: fenec.SyncOff}})
		require.NoError(t, err)
		require.NoError(t, m.Create(t.Context(), "a"))
		run(t, m, "a", "create collection a (b int)")
		h := acquire(t, m, "a")
		require.NoError(t, m.Close())
		_, err = h.Query(t.Context(), "get a")
		require.ErrorIs(t, err, fenec.ErrClosed)
		h.Release()
		require.Equal(t, c.want, files(t, dir))
		require.Zero(t, count(t, open(t, dir, tenant.Options{}), "a", "a"))
	}
}
