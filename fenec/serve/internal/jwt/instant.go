package jwt

import (
	"math"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// instant is a time in nanoseconds since 1970. Times before 1678 and after 2262
// are the first and the last.
type instant int64

const (
	first instant = math.MinInt64
	last  instant = math.MaxInt64

	second = instant(time.Second)
)

// instantOf returns the time of a NumericDate: seconds since 1970, as an int or a
// float. What is between two nanoseconds is the later one, so that it has come
// exactly when that has.
func instantOf(v value.Value) (instant, bool) {
	switch v.Kind() {
	case value.KindInt:
		return seconds(v.AsInt()), true
	case value.KindFloat:
		whole, part := math.Modf(v.AsFloat())
		if math.Abs(whole) > float64(last/second) {
			return outmost(whole < 0), true
		}
		return seconds(int64(whole)).after(time.Duration(math.Ceil(part * float64(second)))), true
	}
	return 0, false
}

func seconds(n int64) instant {
	if n > int64(last/second) || n < int64(first/second) {
		return outmost(n < 0)
	}
	return instant(n) * second
}

func outmost(negative bool) instant {
	if negative {
		return first
	}
	return last
}

// after returns the time d after t.
func (t instant) after(d time.Duration) instant {
	sum := t + instant(d)
	if (sum < t) != (d < 0) {
		return outmost(d < 0)
	}
	return sum
}
