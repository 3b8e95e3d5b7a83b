package router

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSpinner(t *testing.T) {
	for _, c := range []struct {
		name            string
		blocking, spins time.Duration
		pays            bool
	}{
		{"spinning is faster", 50 * time.Microsecond, 20 * time.Microsecond, true},
		{"spinning is slower", 20 * time.Microsecond, 50 * time.Microsecond, false},
		{"hardly faster", 50 * time.Microsecond, 46 * time.Microsecond, false},
		{"both are long", 3 * time.Millisecond, 200 * time.Microsecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s spinner
			// run waits n times and counts those that spun.
			run := func(n int) (spun int) {
				for range n {
					took := c.blocking
					if s.spins() {
						took = c.spins
						spun++
					}
					s.note(took)
				}
				return spun
			}
			for range 3 {
				require.Zero(t, run(trialWaits))
				require.Equal(t, trialWaits, run(trialWaits))
				if c.pays {
					require.Equal(t, termWaits, run(termWaits))
				} else {
					require.Zero(t, run(termWaits))
				}
			}
		})
	}
}
