//go:build !race

// The race detector throws memory away that is kept for the next call.

package fenec_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// items is a collection of 900 documents, 15 for each value of g.
func items(t *testing.T) *fenec.DB {
	t.Helper()
	db := file(t, fenec.Options{Sync: fenec.SyncOff, NoCheckpoint: true},
		"create collection item (name text, g int @hash, n int, f float)")
	docs := make([]any, 900)
	for i := range docs {
		docs[i] = map[string]any{"name": "item " + strconv.Itoa(i), "g": i / 15, "n": i, "f": 2.5}
	}
	_, err := db.Exec(t.Context(), "put item $1", docs)
	require.NoError(t, err)
	require.NoError(t, db.Checkpoint(t.Context()))
	return db
}

// What common statements allocate, with their answers. Arguments above 255 cost
// their caller one allocation each.
func TestAllocations(t *testing.T) {
	type item struct {
		ID   int64
		Name string
		G, N int
		F    float64
	}
	db := items(t)
	ctx := t.Context()
	put, err := db.Prepare("put item {id: $1, name: $2, g: $3, n: 1}")
	require.NoError(t, err)
	var (
		id, n int64
		g     int
		name  string
		f     float64
	)
	scan := func(res *fenec.Result, err error, rows int, dest ...any) error {
		if err != nil || res.Len() != rows {
			return fmt.Errorf("%d rows: %w", res.Len(), err)
		}
		for res.Next() {
			if err := res.Scan(dest...); err != nil {
				return err
			}
		}
		return nil
	}
	dest := []any{&id, &name, &g, &n, &f}
	i := 0
	for _, test := range []struct {
		name string
		most float64
		run  func() error
	}{
		{"get by id", 4, func() error {
			res, err := db.Query(ctx, "get item where id = $1", i%200+1)
			return scan(res, err, 1, dest...)
		}},
		{"get by id into a struct", 5, func() error {
			res, err := db.Query(ctx, "get item where id = $1", i%200+1)
			if err != nil {
				return err
			}
			_, err = fenec.Collect[item](res)
			return err
		}},
		{"15 rows of one value", 14, func() error {
			res, err := db.Query(ctx, "get item where g = $1", i%60)
			return scan(res, err, 15, dest...)
		}},
		{"a put by a prepared statement", 6, func() error {
			n, err := put.Exec(ctx, i%200+1, "name", i%60)
			if n != 1 {
				return fmt.Errorf("put wrote %d: %w", n, err)
			}
			return err
		}},
	} {
		var failed error
		got := testing.AllocsPerRun(300, func() {
			if err := test.run(); err != nil {
				failed = err
			}
			i++
		})
		require.NoError(t, failed, test.name)
		require.LessOrEqual(t, got, test.most, test.name)
	}
}
