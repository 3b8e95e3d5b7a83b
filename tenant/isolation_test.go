package tenant_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// TestNobodyMeetsAnother has writers of interleaved tenants, each row naming its
// tenant, beside all that opens, closes and moves files. Then the files are opened by
// themselves: each must hold all the rows that were answered, and nobody else's.
func TestNobodyMeetsAnother(t *testing.T) {
	const tenants, writers = 6, 4
	each := 60
	if os.Getenv("FENEC_LONG") != "" {
		each = 2000
	}
	dir := t.TempDir()
	m, err := tenant.Open(dir, tenant.Options{MaxOpen: 3, IdleClose: time.Nanosecond, Opens: 2, MaxInFlight: 6, MaxInFlightTenant: 2, DB: fenec.Options{SweepInterval: -1}})
	require.NoError(t, err)
	home := &homes{wrote: map[string]int{}}
	for i := range tenants {
		name := fmt.Sprint("t", i)
		require.NoError(t, m.Create(t.Context(), name))
		run(t, m, name, "create collection rows (who text, n int @unique)")
		home.places = append(home.places, &place{who: name, at: name})
	}
	stop := make(chan struct{})
	var movers, work sync.WaitGroup
	errs := make(chan error, writers+4)
	for i, trouble := range []func(*rand.Rand) error{
		func(*rand.Rand) error { m.CloseIdle(time.Now().Add(time.Hour)); return nil },
		func(r *rand.Rand) error { return home.rename(m, r) },
		func(r *rand.Rand) error { return home.deleteAndUndelete(m, r) },
		func(r *rand.Rand) error { return home.exportAndImport(m, r) },
	} {
		movers.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := trouble(r); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for w := range writers {
		work.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(w)))
			for i := range each {
				if err := home.write(m, r, w*each+i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	work.Wait()
	close(stop)
	movers.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, m.Close())
	total := 0
	for _, p := range home.places {
		total += readOffline(t, filepath.Join(dir, p.at+".fenec"), p.who, home.wrote[p.who])
	}
	require.Equal(t, writers*each, total)
	for _, file := range files(t, dir) {
		require.NotContains(t, file, "foreign")
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	require.NotContains(t, string(maps), dir)
}

// homes are where the tenants are to be found at the moment.
type homes struct {
	places []*place

	mu    sync.Mutex // guards the field below
	wrote map[string]int
}

// place is one tenant's. Who moves it locks it for itself, who writes does so together
// with others.
type place struct {
	sync.RWMutex
	who string // as its rows say
	at  string // its name
}

func (h *homes) any(r *rand.Rand) *place { return h.places[r.IntN(len(h.places))] }

func (h *homes) write(m *tenant.Manager, r *rand.Rand, n int) error {
	p := h.any(r)
	p.RLock()
	defer p.RUnlock()
	ctx := context.Background()
	hd, err := m.Acquire(ctx, p.at)
	if err != nil {
		return fmt.Errorf("write to %s: %w", p.who, err)
	}
	defer hd.Release()
	if _, err := hd.Exec(ctx, "insert rows {who: $1, n: $2}", p.who, n); err != nil {
		return fmt.Errorf("write to %s: %w", p.who, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrote[p.who]++
	return nil
}

func (h *homes) rename(m *tenant.Manager, r *rand.Rand) error {
	p := h.any(r)
	p.Lock()
	defer p.Unlock()
	to := p.who + []string{"", "-a", "-b"}[r.IntN(3)]
	if to == p.at {
		return nil
	}
	if err := m.Rename(context.Background(), p.at, to); err != nil {
		return fmt.Errorf("rename %s: %w", p.at, err)
	}
	p.at = to
	return nil
}

func (h *homes) deleteAndUndelete(m *tenant.Manager, r *rand.Rand) error {
	p := h.any(r)
	p.Lock()
	defer p.Unlock()
	ctx := context.Background()
	err := m.Delete(ctx, p.at)
	if err == nil {
		_, err = m.Acquire(ctx, p.at)
		if !errors.Is(err, tenant.ErrNotFound) {
			return fmt.Errorf("%s is still there: %w", p.at, err)
		}
		err = m.Undelete(ctx, p.at)
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", p.at, err)
	}
	return nil
}

// exportAndImport puts a copy in a tenant's place, beside writers of others, and for
// a moment beside its own.
func (h *homes) exportAndImport(m *tenant.Manager, r *rand.Rand) error {
	p := h.any(r)
	ctx := context.Background()
	p.RLock()
	err := m.Export(ctx, p.at, new(bytes.Buffer))
	p.RUnlock()
	p.Lock()
	defer p.Unlock()
	var image bytes.Buffer
	err = errors.Join(err, m.Export(ctx, p.at, &image), m.DeleteNow(ctx, p.at))
	if err == nil {
		err = m.Import(ctx, p.at, &image, int64(image.Len()))
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", p.at, err)
	}
	return nil
}

// readOffline returns how many rows a closed tenant's file holds, all of which must
// name it.
func readOffline(t *testing.T, path, who string, want int) int {
	t.Helper()
	require.NoError(t, fenec.Check(path))
	db, err := fenec.Open(path, fenec.Options{MustExist: true})
	require.NoError(t, err)
	defer db.Close()
	res, err := db.Query(t.Context(), "get rows")
	require.NoError(t, err)
	names := map[string]int{}
	for row := range res.All() {
		name, err := row.Text("who")
		require.NoError(t, err)
		names[name]++
	}
	if want > 0 {
		require.Equal(t, map[string]int{who: want}, names)
	}
	return res.Len()
}
