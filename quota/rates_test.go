package quota_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

// Writers that do not ask beforehand, or that asked all at once, are held to a rate as
// their blocks land: not one more gets through than there are rows in the bucket.
func TestWritersRaceForARate(t *testing.T) {
	clk := newClock()
	db := openDB(t, fenec.Options{})
	const rate, racers = 10, 64
	q := quota.New(db, quota.Limits{RowsPerSecond: rate}, clk.now)
	var landed, refused atomic.Int64
	for _, asks := range []bool{false, true} {
		var wg sync.WaitGroup
		for range racers {
			wg.Go(func() {
				var err error
				if asks {
					err = q.MayWrite()
				}
				if err == nil {
					_, err = db.Exec(t.Context(), `put c {s: "x"}`)
				}
				var r *quota.Refusal
				switch {
				case err == nil:
					landed.Add(1)
				case errors.As(err, &r) && r.Key == quota.KeyRowsPerSecond && r.Wait == 1:
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		clk.pass(time.Second)
	}
	require.EqualValues(t, 2*rate, landed.Load())
	require.EqualValues(t, 2*(racers-rate), refused.Load())
	require.EqualValues(t, 2*rate, rows(stats(t, db), "c"))
}

// What a refused block was charged before it is not lost, and schemas and the server's
// own documents go on while the tenant waits.
func TestWhatARateDoesNotHold(t *testing.T) {
	clk := newClock()
	db := openDB(t, fenec.Options{})
	exec(t, db, "create collection _keys (s text)")
	q := quota.New(db, quota.Limits{RowsPerSecond: 1, BytesPerSecond: 1}, clk.now)
	exec(t, db, `put c {s: "x"}`)
	_, err := db.Exec(t.Context(), `put c {s: "y"}`)
	require.NotNil(t, refusal(t, err))
	_, err = db.Exec(t.Context(), `del c`)
	require.NotNil(t, refusal(t, err), "a delete is charged, and so waits")
	exec(t, db, `put _keys {s: "k"}`)
	exec(t, db, `alter collection c add n int`)
	clk.pass(time.Hour)
	require.Nil(t, run(t, db, q, `put c {s: "y"}`))
	require.EqualValues(t, 2, rows(stats(t, db), "c"))
}

// What expires is deleted whatever the tenant owes, and is charged to nobody.
func TestExpiryIsNotCharged(t *testing.T) {
	clk := newClock()
	db := openDB(t, fenec.Options{Clock: clk.now, SweepInterval: -1})
	exec(t, db, "create collection e (at timestamp @ttl(1m))")
	exec(t, db, "put e [{at: $1}, {at: $1}, {at: $1}, {at: $1}, {at: $1}]", clk.now())
	q := quota.New(db, quota.Limits{RowsPerSecond: 2, BytesPerSecond: 1 << 20}, clk.now)
	clk.pass(2 * time.Minute)
	n, err := db.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.NoError(t, q.MayWrite())
	require.Nil(t, run(t, db, q, `put c [{s: "x"}, {s: "x"}, {s: "x"}]`), "the bucket is full")

	// A debt holds up no expiry.
	exec(t, db, "create collection f (at timestamp @ttl(1m))")
	q.Set(quota.Limits{})
	exec(t, db, "put f {at: $1}", clk.now())
	q.Set(quota.Limits{RowsPerSecond: 1})
	require.Nil(t, run(t, db, q, "put c"+strings.Repeat(" {}", 200)))
	clk.pass(2 * time.Minute)
	require.Equal(t, int64(80), refusal(t, q.MayWrite()).Wait)
	n, err = db.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, int64(80), refusal(t, q.MayWrite()).Wait, "the debt is what it was")
}
