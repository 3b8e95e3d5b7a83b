package tenant_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

func manager(b *testing.B, dir string, opts tenant.Options) *tenant.Manager {
	b.Helper()
	m, err := tenant.Open(dir, opts)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, m.Close()) })
	return m
}

// fillDir makes tenants by writing copies of one.
func fillDir(tb testing.TB, dir string, n int) {
	tb.Helper()
	data := template(tb, filepath.Join(dir, "template"))
	for i := range n {
		require.NoError(tb, os.WriteFile(fillPath(dir, i), data, 0o600))
	}
}

func fillPath(dir string, i int) string { return filepath.Join(dir, fillName(i)+".fenec") }

func fillName(i int) string { return fmt.Sprintf("t%06d", i) }

// template returns the file of a tenant with a row.
func template(tb testing.TB, path string) []byte {
	tb.Helper()
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(tb, err)
	_, err = db.Batch(context.Background(), []fenec.Statement{{Text: "create collection a (b int)"}, {Text: "put a {b: 1}"}})
	require.NoError(tb, err)
	require.NoError(tb, db.Close())
	data, err := os.ReadFile(path)
	require.NoError(tb, err)
	require.NoError(tb, os.Remove(path))
	return data
}

// BenchmarkAcquire is what a request pays for going through the manager.
func BenchmarkAcquire(b *testing.B) {
	for _, c := range []struct {
		name string
		opts tenant.Options
	}{{"places=none", tenant.Options{}}, {"places=bounded", tenant.Options{MaxInFlight: 64, MaxInFlightTenant: 8}}} {
		b.Run(c.name, func(b *testing.B) {
			m := manager(b, b.TempDir(), c.opts)
			require.NoError(b, m.Create(b.Context(), "acme"))
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				h, err := m.Acquire(ctx, "acme")
				if err != nil {
					b.Fatal(err)
				}
				h.Release()
			}
		})
	}
}

// BenchmarkCreate makes one tenant after another.
func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	m := manager(b, dir, tenant.Options{MaxOpen: 100})
	n := 0
	for b.Loop() {
		require.NoError(b, m.Create(b.Context(), fmt.Sprint("t", n)))
		n++
	}
	info, err := os.Stat(filepath.Join(dir, "t0.fenec"))
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size()), "B/file")
}

// BenchmarkChurn has a working set of 4 times MaxOpen.
func BenchmarkChurn(b *testing.B) {
	for _, write := range []bool{false, true} {
		b.Run(fmt.Sprintf("write=%v", write), func(b *testing.B) {
			const most = 100
			dir := b.TempDir()
			fillDir(b, dir, 4*most)
			m := manager(b, dir, tenant.Options{MaxOpen: most})
			var workers sync.WaitGroup
			next := make(chan int)
			for range 8 {
				workers.Go(func() {
					for i := range next {
						visit(b, m, fillName(i), write)
					}
				})
			}
			n := 0
			for b.Loop() {
				next <- n % (4 * most) // the worst order for the least recently used
				n++
			}
			close(next)
			workers.Wait()
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "opens/s")
		})
	}
}

func visit(b *testing.B, m *tenant.Manager, name string, write bool) {
	h, err := m.Acquire(context.Background(), name)
	if err != nil {
		b.Error(err)
		return
	}
	defer h.Release()
	text := "get a where id = 1"
	if write {
		text = "put a {b: 2}"
	}
	if _, err := h.Query(context.Background(), text); err != nil {
		b.Error(err)
	}
}

// BenchmarkIdleMemory tells what an open tenant that nobody uses takes up.
func BenchmarkIdleMemory(b *testing.B) {
	const n = 500
	dir := b.TempDir()
	fillDir(b, dir, n)
	for b.Loop() {
		m, err := tenant.Open(dir, tenant.Options{})
		require.NoError(b, err)
		before := heap()
		for i := range n {
			visit(b, m, fillName(i), false)
		}
		b.ReportMetric(float64(heap()-before)/n, "B/tenant")
		require.NoError(b, m.Close())
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var st runtime.MemStats
	runtime.ReadMemStats(&st)
	return int64(st.HeapAlloc + st.StackInuse)
}

// BenchmarkFirstAnswer opens a tenant and gets a row.
func BenchmarkFirstAnswer(b *testing.B) {
	dir := b.TempDir()
	fillDir(b, dir, 200)
	m := manager(b, dir, tenant.Options{MaxOpen: 20})
	r := rand.New(rand.NewPCG(1, 1))
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		visit(b, m, fillName(r.IntN(200)), false)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkFairness tells by how much the slowest of a hundred small reads of a tenant
// slow down while another tenant scans all the time.
func BenchmarkFairness(b *testing.B) {
	m := manager(b, b.TempDir(), tenant.Options{MaxInFlight: 8, MaxInFlightTenant: 1, Wait: time.Minute})
	ctx := context.Background()
	for _, name := range []string{"scans", "small"} {
		require.NoError(b, m.Create(ctx, name))
		id, err := m.Lookup(ctx, name)
		require.NoError(b, err)
		require.NoError(b, m.Do(ctx, id, func(ctx context.Context, h *tenant.Handle) error {
			_, err := h.Exec(ctx, "create collection a (b int)")
			if err == nil {
				_, err = h.Load(ctx, "put a {b: $1}", func(yield func([]any, error) bool) {
					for i := 0; i < 20_000 && yield([]any{i}, nil); i++ {
					}
				})
			}
			return err
		}))
	}
	alone := p99(b, m)
	stop := make(chan struct{})
	var scans sync.WaitGroup
	for range 4 {
		scans.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				h, err := m.Acquire(ctx, "scans")
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := h.Query(ctx, "get a where b + 1 < 0"); err != nil {
					b.Error(err)
				}
				h.Release()
			}
		})
	}
	beside := time.Duration(0)
	for b.Loop() {
		beside = p99(b, m)
	}
	close(stop)
	scans.Wait()
	b.ReportMetric(float64(alone.Microseconds()), "alone-µs")
	b.ReportMetric(float64(beside.Microseconds()), "beside-µs")
	b.ReportMetric(float64(beside)/float64(alone), "ratio")
}

func p99(b *testing.B, m *tenant.Manager) time.Duration {
	var took []time.Duration
	for range 2000 {
		began := time.Now()
		visit(b, m, "small", false)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// TestALargeDirectory opens one of 100,000 tenants.
func TestALargeDirectory(t *testing.T) {
	n := 2000
	if os.Getenv("FENEC_LONG") != "" {
		n = 100_000
	}
	dir := t.TempDir()
	data := template(t, filepath.Join(dir, "template"))
	const names = 1000 // of one file: only one of them is opened
	for i := range n {
		if i%names == 0 {
			require.NoError(t, os.WriteFile(fillPath(dir, i), data, 0o600))
		} else {
			require.NoError(t, os.Link(fillPath(dir, i-i%names), fillPath(dir, i)))
		}
	}
	before := heap()
	began := time.Now()
	m := open(t, dir, tenant.Options{})
	h := acquire(t, m, "t000007")
	_, err := h.Query(t.Context(), "get a where id = 1")
	require.NoError(t, err)
	h.Release()
	took, held := time.Since(began), heap()-before
	t.Logf("%d tenants: open and first answer in %v, %d KiB held", n, took, held>>10)
	require.Less(t, held, int64(50<<20))
	began = time.Now()
	require.NoError(t, m.Create(t.Context(), "last"))
	t.Logf("create in %v", time.Since(began))
	info, err := os.Stat(filepath.Join(dir, "last.fenec"))
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(32<<10))
}

// TestManyOpenAtOnce holds as many databases as the process's limits allow.
func TestManyOpenAtOnce(t *testing.T) {
	if os.Getenv("FENEC_LONG") == "" {
		t.Skip("it makes thousands of files")
	}
	const n = 10_000
	dir := t.TempDir()
	fillDir(t, dir, n)
	m := open(t, dir, tenant.Options{IdleClose: -1, Wait: time.Millisecond})
	before := heap()
	var held []*tenant.Handle
	for i := range n {
		h, err := m.Acquire(t.Context(), fillName(i))
		if err != nil {
			require.ErrorIs(t, err, tenant.ErrBusy)
			break
		}
		_, err = h.Query(t.Context(), "get a where id = 1")
		require.NoError(t, err)
		held = append(held, h)
	}
	t.Logf("%d open, %d B each, %d descriptors", len(held), (heap()-before)/int64(len(held)), descriptors())
	for _, h := range held {
		h.Release()
	}
}
