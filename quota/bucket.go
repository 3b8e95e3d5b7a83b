package quota

import (
	"math/bits"
	"time"
)

// bucket is a token bucket that may go into debt: it holds one second's worth of
// its rate, starts full and refills continuously. Its balance is exact, to a
// billionth of a token, however often it is looked at, so that who waits as long
// as told never finds it short.
//
// Moments are times since one that its owner has chosen.
//
// Invariant: 0 <= billionths < 1e9, and whole <= rate with none beyond.
type bucket struct {
	rate       int64 // tokens a second; 0 bounds nothing
	whole      int64 // tokens, rounded down
	billionths uint64
	at         time.Duration // when the balance was that
}

const billion = 1_000_000_000

func fullBucket(rate int64, now time.Duration) bucket {
	return bucket{rate: rate, whole: rate, at: now}
}

// refill brings the balance to now. A clock that went back gives nothing.
func (b *bucket) refill(now time.Duration) {
	elapsed := now - b.at
	b.at = now
	if elapsed <= 0 {
		return
	}
	// Nanoseconds times tokens a second are billionths of tokens.
	hi, lo := bits.Mul64(uint64(elapsed), uint64(b.rate))
	lo, carry := bits.Add64(lo, b.billionths, 0)
	hi += carry
	if hi >= billion {
		b.fill()
		return
	}
	tokens, rest := bits.Div64(hi, lo, billion)
	if tokens >= b.missing() {
		b.fill()
		return
	}
	b.whole += int64(tokens)
	b.billionths = rest
}

func (b *bucket) fill() { b.whole, b.billionths = b.rate, 0 }

// take subtracts n tokens, whatever the balance.
func (b *bucket) take(n int64) { b.whole -= n }

// giveBack undoes a take. However much was refilled in between, the balance is as
// if there had been none: what that overflowed by is not given twice.
func (b *bucket) giveBack(n int64) {
	if uint64(n) >= b.missing() {
		b.fill()
		return
	}
	b.whole += n
}

// missing returns how many whole tokens there are less than the bucket holds. The
// difference fits whatever the signs.
func (b *bucket) missing() uint64 { return uint64(b.rate) - uint64(b.whole) }

// hasOne reports whether there is a whole token.
func (b *bucket) hasOne() bool { return b.whole >= 1 }

// hasAny reports whether the balance is above 0.
func (b *bucket) hasAny() bool { return b.whole > 0 || b.whole == 0 && b.billionths > 0 }

// untilOne returns the whole seconds until hasOne.
func (b *bucket) untilOne() int64 { return b.until(1 - b.whole) }

// untilAny returns the whole seconds until hasAny.
func (b *bucket) untilAny() int64 {
	if b.billionths > 0 {
		return b.until(-b.whole)
	}
	return b.until(1 - b.whole)
}

// until returns the seconds, at least one, that bring that many tokens.
func (b *bucket) until(tokens int64) int64 {
	return max(1, (tokens-1)/b.rate+1)
}
