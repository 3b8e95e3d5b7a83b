package node

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// bootTime returns how long ago the machine was started, the time it was suspended
// included. A clock that cannot be read has every lease lapse.
func bootTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return math.MaxInt64
	}
	return time.Duration(ts.Nano())
}
