package router

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// manyTenants makes a directory of that many tenants on a hundred nodes.
func manyTenants(t testing.TB, f *followed, tenants int) {
	require.NoError(t, f.primary.file.write(func(r rows) error {
		for i := range 100 {
			if err := r.putNode(Node{fmt.Sprint("n", i), fmt.Sprintf("a:%d", i+1), NewToken("x")}); err != nil {
				return err
			}
		}
		return nil
	}))
	ctx := context.Background()
	require.NoError(t, f.primary.file.use(func(db *fenec.DB) error {
		for i := 0; i < tenants; {
			_, err := db.Update(ctx, func(tx *fenec.Tx) error {
				for range 1000 {
					name := fmt.Sprint("t", i)
					if _, err := tx.Exec(ctx, `put tenants {name: $1, node: $2, state: "active"}`, name, fmt.Sprint("n", i%100)); err != nil {
						return err
					}
					if _, err := tx.Exec(ctx, `put marks {tenant: $1, epoch: 1, status: "active", phase: "", detail: ""}`, name); err != nil {
						return err
					}
					i++
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	f.primary = reloaded(t, f.primary)
}

// reloaded reads a directory's file anew.
func reloaded(t testing.TB, d *Directory) *Directory {
	again, err := newDirectory(d.file)
	require.NoError(t, err)
	again.file = d.file
	return again
}

// D9, and what one change costs among many tenants, and all of them.
func BenchmarkCatchUp(b *testing.B) {
	const tenants = 100_000
	f := newFollowed(b, 0)
	manyTenants(b, f, tenants)
	f.follow()
	require.Equal(b, tenants, len(f.catcher.directory.Tenants()))
	n, _ := f.primary.Node("n7")
	made := 0
	b.Run("change/tenants=100000", func(b *testing.B) {
		whole := f.catcher.wholes.Load()
		changes := uint64(0)
		for b.Loop() {
			b.StopTimer()
			made++
			require.NoError(b, f.primary.Place(fmt.Sprint("new", made), n))
			before := f.db.Seq()
			f.come()
			changes += f.db.Seq() - before
			b.StartTimer()
			f.catcher.catchUp(f.db)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(changes), "µs/change")
		require.Equal(b, whole, f.catcher.wholes.Load())
	})
	b.Run("batch=256/tenants=100000", func(b *testing.B) {
		changes := uint64(0)
		for b.Loop() {
			b.StopTimer()
			require.NoError(b, f.primary.file.write(func(r rows) error {
				for i := range 128 {
					if err := r.putTenant(Tenant{Name: fmt.Sprint("t", i*7), Node: fmt.Sprint("n", made%100), State: StateActive, Epoch: int64(made)}); err != nil {
						return err
					}
				}
				made++
				return nil
			}))
			before := f.db.Seq()
			f.come()
			changes += f.db.Seq() - before
			b.StartTimer()
			f.catcher.catchUp(f.db)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(changes), "µs/change")
	})
	b.Run("whole/tenants=100000", func(b *testing.B) {
		for b.Loop() { // which takes long
			require.NoError(b, f.catcher.readAll(f.db))
		}
	})
}
