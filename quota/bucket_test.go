package quota

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// modelBucket is a bucket of fractions.
type modelBucket struct{ rate, balance *big.Rat }

func newModelBucket(rate int64) *modelBucket {
	return &modelBucket{new(big.Rat).SetInt64(rate), new(big.Rat).SetInt64(rate)}
}

func (m *modelBucket) refill(d time.Duration) {
	gain := new(big.Rat).Mul(m.rate, big.NewRat(int64(d), billion))
	m.balance.Add(m.balance, gain)
	if m.balance.Cmp(m.rate) > 0 {
		m.balance.Set(m.rate)
	}
}

func (m *modelBucket) take(n int64) { m.balance.Sub(m.balance, new(big.Rat).SetInt64(n)) }

func (m *modelBucket) hasOne() bool { return m.balance.Cmp(big.NewRat(1, 1)) >= 0 }

func (m *modelBucket) hasAny() bool { return m.balance.Sign() > 0 }

func (b *bucket) fraction() *big.Rat {
	f := new(big.Rat).SetInt64(b.whole)
	return f.Add(f, new(big.Rat).SetFrac64(int64(b.billionths), billion))
}

func TestBucketIsLikeItsModel(t *testing.T) {
	rates := []int64{1, 3, 10, 999, 1_000_000_007, 1 << 40, 1<<63 - 1}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rate := rates[r.IntN(len(rates))]
		now := 1000 * time.Hour
		b, m := fullBucket(rate, now), newModelBucket(rate)
		for range 60 {
			d := someDuration(r)
			now += d
			b.refill(now)
			m.refill(d)
			n := r.Int64N(min(rate, 1<<40)*3 + 1)
			if r.IntN(2) == 0 {
				b.take(n)
				m.take(n)
			} else {
				now = takeInVain(r, &b, m, now, n)
			}
			require.Zero(t, b.fraction().Cmp(m.balance), "rate %d: %v, want %v", rate, b.fraction(), m.balance)
			require.Equal(t, m.hasOne(), b.hasOne())
			require.Equal(t, m.hasAny(), b.hasAny())
			requireWait(t, b, now, (*bucket).hasOne, (*bucket).untilOne)
			requireWait(t, b, now, (*bucket).hasAny, (*bucket).untilAny)
		}
	}
}

func someDuration(r *rand.Rand) time.Duration {
	return []time.Duration{
		0, 1, 333, time.Duration(r.IntN(billion)), time.Second, 1600 * time.Millisecond, time.Duration(r.Int64N(100 * billion)),
	}[r.IntN(7)]
}

// takeInVain gives back later what it takes, of which the model knows nothing.
func takeInVain(r *rand.Rand, b *bucket, m *modelBucket, now time.Duration, n int64) time.Duration {
	d := someDuration(r)
	now += d
	b.take(n)
	b.refill(now)
	b.giveBack(n)
	m.refill(d)
	return now
}

// requireWait requires that waiting as long as told helps, and a second less does
// not.
func requireWait(t *testing.T, b bucket, now time.Duration, has func(*bucket) bool, until func(*bucket) int64) {
	t.Helper()
	if has(&b) {
		return
	}
	wait := until(&b)
	require.Positive(t, wait)
	if wait < 1<<32 { // what a Duration holds
		later := b
		later.refill(now + time.Duration(wait)*time.Second)
		require.True(t, has(&later), "%+v waited %d s", b, wait)
	}
	if 1 < wait && wait < 1<<32 {
		sooner := b
		sooner.refill(now + time.Duration(wait-1)*time.Second)
		require.False(t, has(&sooner), "%+v could have waited %d s", b, wait-1)
	}
}

func TestBucketOfAClockThatGoesBack(t *testing.T) {
	now := 1000 * time.Hour
	b := fullBucket(10, now)
	b.take(10)
	b.refill(now - time.Hour)
	require.False(t, b.hasAny())
	b.refill(now - time.Hour + time.Second)
	require.EqualValues(t, 10, b.whole)
	b.refill(now + 200*365*24*time.Hour)
	require.EqualValues(t, 10, b.whole)
}
