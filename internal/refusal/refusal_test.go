package refusal

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newAt(base time.Duration) (*Delays, *time.Time) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	d := New(base)
	d.now = func() time.Time { return now }
	return d, &now
}

func TestRefusalsWaitLongerAndLonger(t *testing.T) {
	d, now := newAt(100 * time.Millisecond)
	for i, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		require.Equal(t, want*time.Millisecond, d.Refused("10.0.0.1:"+strconv.Itoa(i)))
		*now = now.Add(window - 1)
	}
	require.Equal(t, 100*time.Millisecond, d.Refused("10.0.0.2:1"), "another address")
	*now = now.Add(window)
	require.Equal(t, 100*time.Millisecond, d.Refused("10.0.0.1:9"), "long ago")
}

func TestAcceptedClears(t *testing.T) {
	d, _ := newAt(time.Second)
	d.Accepted("[::1]:80")
	require.False(t, d.Any())
	require.Equal(t, time.Second, d.Refused("[::1]:80"))
	require.Equal(t, 2*time.Second, d.Refused("::1"))
	require.True(t, d.Any())
	d.Accepted("[::1]:81")
	require.False(t, d.Any())
	require.Equal(t, time.Second, d.Refused("[::1]:82"))
}

func TestZeroIsOff(t *testing.T) {
	d, _ := newAt(0)
	require.Zero(t, d.Refused("a:1"))
	require.Zero(t, d.Refused("a:1"))
	require.Empty(t, d.seen)
}

func TestMemoryIsBounded(t *testing.T) {
	d, _ := newAt(time.Second)
	for i := range most + 1 {
		d.Refused(strconv.Itoa(i))
	}
	require.Len(t, d.seen, 1)
	require.Equal(t, 2*time.Second, d.Refused(strconv.Itoa(most)))
	long, _ := newAt(time.Hour)
	require.Equal(t, longest, long.Refused("a"))
}
