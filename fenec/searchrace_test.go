package fenec_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// Everything that concerns searches goes on at once, and the database is closed
// in the middle of it.
func TestSearchConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.fenec")
	for round := range 3 {
		db, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncOff, FrontBytes: int64(1-round%2) * 256 << 10})
		require.NoError(t, err)
		if round == 0 {
			runAll(t, db, `create collection docs (body text, v vector<3>, n int)`)
		}
		for _, text := range bustleFields { // which may be left out since the last round
			if _, err := db.Exec(ctx, text); !errors.Is(err, fenec.ErrExists) {
				require.NoError(t, err)
			}
		}
		b := bustle{db: db}
		for i, work := range []func(*rand.Rand) error{b.write, b.write, b.match, b.near, b.near, b.hold, b.keep, b.alter} {
			r := rand.New(rand.NewPCG(uint64(round), uint64(i)))
			b.workers.Go(func() {
				for {
					switch err := work(r); {
					case errors.Is(err, fenec.ErrClosed):
						return
					case err != nil:
						b.failed(err)
						return
					}
				}
			})
		}
		<-b.enough()
		require.NoError(t, db.Close())
		b.workers.Wait()
		require.NoError(t, b.err)
		require.NoError(t, fenec.Check(path))
	}
}

// bustleFields make fields with their indexes, unless they are there.
var bustleFields = []string{
	"alter collection docs add n int", "alter collection docs add v vector<3>", "alter collection docs add body text",
	"create index on docs (n) @hash", "create index on docs (v) @hnsw(l2, m=4, ef_construction=16, ef_search=12)", "create index on docs (body) @text",
}

// bustle is one database on which many work.
type bustle struct {
	db      *fenec.DB
	workers sync.WaitGroup
	writes  atomic.Int64
	done    chan struct{}
	once    sync.Once
	mu      sync.Mutex
	err     error
}

const bustleWrites = 800

// enough is closed when so much has been written that the database may be
// closed, or when something fails.
func (b *bustle) enough() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == nil {
		b.done = make(chan struct{})
	}
	return b.done
}

func (b *bustle) end() {
	done := b.enough()
	b.once.Do(func() { close(b.done); <-done })
}

func (b *bustle) failed(err error) {
	b.mu.Lock()
	b.err = errors.Join(b.err, err)
	b.mu.Unlock()
	b.end()
}

func (b *bustle) write(r *rand.Rand) (err error) {
	id := 1 + r.IntN(700)
	switch r.IntN(6) {
	case 0:
		_, err = b.db.Exec(ctx, "del docs where id = $1", id)
	case 1:
		_, err = b.db.Exec(ctx, "set docs {v: $1} where id = $2", point(r, 3, false), id)
	case 2:
		_, err = b.db.Exec(ctx, "set docs {body: $1} where n = $2", prose(r, 5), r.IntN(100))
	default:
		var docs []any
		for range 1 + r.IntN(8) {
			docs = append(docs, map[string]any{"id": 1 + r.IntN(700), "body": prose(r, 5), "v": point(r, 3, false), "n": r.IntN(100)})
		}
		_, err = b.db.Exec(ctx, "put docs $1", docs)
	}
	if b.writes.Add(1) == bustleWrites {
		b.end()
	}
	return lacking(err)
}

// lacking returns nil for errors of a field that is dropped, or has no index yet,
// and of a read that has to give way.
func lacking(err error) error {
	for _, allowed := range []error{fenec.ErrNotFound, fenec.ErrQuery, fenec.ErrSnapshotTooOld} {
		if errors.Is(err, allowed) {
			return nil
		}
	}
	return err
}

func (b *bustle) match(r *rand.Rand) error {
	res, err := findHits(b.db, "get id from docs match body $1 limit 20", prose(r, 3))
	if err == nil {
		err = inOrder(res, false)
	}
	return lacking(err)
}

func (b *bustle) near(r *rand.Rand) error {
	where, v := "", point(r, 3, false)
	if r.IntN(2) == 0 {
		where = " where n < 60"
	}
	res, err := findHits(b.db, "get id from docs near v $1"+where+" limit 8", v)
	if err == nil {
		err = inOrder(res, true)
	}
	return lacking(err)
}

func inOrder(list []hit, ascending bool) error {
	for i := 1; i < len(list); i++ {
		if compareHits(list[i-1], list[i], ascending) >= 0 {
			return fmt.Errorf("out of order: %v", list)
		}
	}
	return nil
}

// hold compares what a snapshot answers with its rows.
func (b *bustle) hold(r *rand.Rand) error {
	return lacking(b.db.View(ctx, func(sn *fenec.Snapshot) error {
		v := point(r, 3, false)
		near, err := findHits(sn, "get id from docs near v $1 limit 8", v)
		if err != nil {
			return err
		}
		exact, err := findHits(sn, "get id from docs near v $1 exact", v)
		if err != nil {
			return err
		}
		if len(near) != min(8, len(exact)) {
			return fmt.Errorf("%d rows of %d", len(near), len(exact))
		}
		right := map[hit]bool{}
		for _, h := range exact {
			right[h] = true
		}
		for _, h := range near {
			if !right[h] {
				return fmt.Errorf("id %d does not score %v", h.id, h.score)
			}
		}
		return nil
	}))
}

// keep folds, compacts or makes an image.
func (b *bustle) keep(r *rand.Rand) error {
	switch r.IntN(8) {
	case 0:
		return b.db.Compact(ctx)
	case 1:
		m, err := b.db.OpenImage(ctx)
		if err != nil {
			return err
		}
		return m.Close()
	case 2:
		_, err := b.db.Stats()
		return err
	}
	return b.db.Checkpoint(ctx)
}

// alter drops a field and makes it again.
func (b *bustle) alter(r *rand.Rand) error {
	for seen := b.writes.Load(); b.writes.Load() < min(seen+60, bustleWrites); {
		if _, err := b.db.Query(ctx, "get docs count"); err != nil {
			return err
		}
	}
	for _, text := range append([]string{"alter collection docs drop " + []string{"v", "body", "n"}[r.IntN(3)]}, bustleFields...) {
		if _, err := b.db.Exec(ctx, text); err != nil && !errors.Is(err, fenec.ErrExists) && !errors.Is(err, fenec.ErrNotFound) {
			return err
		}
	}
	return nil
}
