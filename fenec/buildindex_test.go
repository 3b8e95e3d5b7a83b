package fenec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// numbered returns n documents with a number, a text and a json field.
func numbered(n int) []any {
	docs := make([]any, n)
	for i := range docs {
		docs[i] = map[string]any{"n": i, "s": fmt.Sprintf("text %d", i%977), "j": map[string]any{"k": i % 501}}
	}
	return docs
}

// TestIndexBesideWriters builds indexes on a large collection while writers
// change it, and compares each with a scan afterwards.
func TestIndexBesideWriters(t *testing.T) {
	const rows = 30_000
	for _, index := range []string{"(n) @sorted", "(s) @hash", "(j.k) @sorted"} {
		t.Run(index, func(t *testing.T) {
			db := file(t, fenec.Options{FrontBytes: 4 << 20}, "create collection c (n int, s text, j json)")
			ctx := t.Context()
			_, err := db.Exec(ctx, "put c $1", numbered(rows))
			require.NoError(t, err)
			var stop atomic.Bool
			var writers sync.WaitGroup
			for w := range 2 {
				rng := rand.New(rand.NewPCG(uint64(w), 1))
				writers.Go(func() {
					for !stop.Load() {
						if err := change(ctx, db, rng, rows); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			query(t, db, "create index on c "+index)
			stop.Store(true)
			writers.Wait()
			path := db.Path()
			for _, text := range []string{
				"get c where n >= 100 and n < 160", "get c where s = \"text 5\"", "get c where j.k = 7",
				"get c order n limit 20", "get c order j.k desc, id limit 20",
			} {
				res := query(t, db, text)
				b, err := res.AppendJSON(nil)
				require.NoError(t, err)
				require.Equal(t, scanned(t, db, text), string(b), text)
			}
			require.NoError(t, db.Close())
			require.NoError(t, fenec.Check(path))
		})
	}
}

// change makes one random change.
func change(ctx context.Context, db *fenec.DB, rng *rand.Rand, rows int) error {
	id := 1 + rng.IntN(rows+1000)
	switch rng.IntN(4) {
	case 0:
		_, err := db.Exec(ctx, "del c where id = $1", id)
		return err
	case 1:
		_, err := db.Exec(ctx, "put c {id: $1, n: $2, s: \"new\", j.k: $2}", id, rng.IntN(rows))
		return err
	}
	_, err := db.Exec(ctx, "set c {n: $2, j.k: $2, s: $3} where id = $1", id, rng.IntN(rows), fmt.Sprint("text ", rng.IntN(99)))
	return err
}

// scanned returns what a statement answers that no index can serve.
func scanned(t *testing.T, db *fenec.DB, text string) string {
	t.Helper()
	from := "get c "
	rest := text[len(from):]
	if len(rest) > 5 && rest[:5] == "where" {
		return body(t, db, from+"where not not ("+rest[6:]+")")
	}
	return body(t, db, from+"where not not true "+rest[:len(rest)-len(" limit 20")]+" offset 0 limit 20")
}

// A unique index that two rows stand against is refused, and nothing is left.
func TestUniqueIndexOverDuplicates(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection c (n int, s text, j json)")
	docs := numbered(8000)
	docs[7000].(map[string]any)["n"] = 12
	_, err := db.Exec(t.Context(), "put c $1", docs)
	require.NoError(t, err)
	before := body(t, db, "describe c")
	_, err = db.Query(t.Context(), "create index on c (n) @unique")
	require.ErrorIs(t, err, fenec.ErrDuplicate)
	require.ErrorContains(t, err, "12")
	require.Equal(t, before, body(t, db, "describe c"))
	query(t, db, "set c {n: 100000} where id = 7001")
	query(t, db, "create index on c (n) @unique")
	_, err = db.Query(t.Context(), "put c {n: 12}")
	require.ErrorIs(t, err, fenec.ErrDuplicate)
	query(t, db, "create index if not exists on c (n) @hash")
	_, err = db.Query(t.Context(), "create index on c (n) @hash")
	require.ErrorIs(t, err, fenec.ErrExists)
	path := db.Path()
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))
}

// An index whose making was cut short is gone after the next open, with its
// entries.
func TestIndexCutShort(t *testing.T) {
	for _, at := range []string{"fill", "filled"} {
		t.Run(at, func(t *testing.T) {
			var cut atomic.Bool
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opts := fenec.Options{NoCheckpoint: true}.WithStep(func(name string) {
				if cut.Load() && name == at {
					cancel()
				}
			})
			db := file(t, opts, "create collection c (n int, s text, j json)")
			_, err := db.Exec(t.Context(), "put c $1", numbered(20_000))
			require.NoError(t, err)
			before := body(t, db, "describe c")
			cut.Store(true)
			_, err = db.Query(ctx, "create index on c (n) @sorted")
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, before, body(t, db, "describe c"))
			query(t, db, "put c {n: -1}")
			query(t, db, "create index on c (n) @sorted")
			require.Equal(t, `[{"n":-1}]`, body(t, db, "get n from c order n limit 1"))
			path := db.Path()
			require.NoError(t, db.Close())
			require.NoError(t, fenec.Check(path))
		})
	}
}

// Dropping what an index is being made on ends its making.
func TestDropBesideIndex(t *testing.T) {
	for _, drop := range []string{"drop collection c", "alter collection c drop n"} {
		t.Run(drop, func(t *testing.T) {
			var db *fenec.DB
			var once sync.Once
			var armed atomic.Bool
			dropped := make(chan error, 1)
			opts := fenec.Options{}.WithStep(func(name string) {
				if armed.Load() && name == "fill" {
					once.Do(func() {
						_, err := db.Query(context.Background(), drop)
						dropped <- err
					})
				}
			})
			db = file(t, opts, "create collection c (n int, s text, j json)")
			_, err := db.Exec(t.Context(), "put c $1", numbered(20_000))
			require.NoError(t, err)
			armed.Store(true)
			_, err = db.Query(t.Context(), "create index on c (n) @sorted")
			require.NoError(t, <-dropped)
			require.ErrorIs(t, err, fenec.ErrNotFound)
			path := db.Path()
			require.NoError(t, db.Close())
			require.NoError(t, fenec.Check(path))
		})
	}
}
