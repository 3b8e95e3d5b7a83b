package replication

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulation(t *testing.T) {
	seeds := int64(200)
	if os.Getenv("FENEC_LONG") != "" {
		seeds = 10_000
	}
	for seed := range seeds {
		require.Empty(t, newSimulation(seed, fair).run(), "seed %d", seed)
	}
}

// The simulation does find what is wrong: clocks whose speeds differ by more than
// the tenth that is left for them; grants whose delay nothing bounds; and, which it
// was the first to find, a promoted router that is restarted before it has settled.
func TestSimulationCanFail(t *testing.T) {
	for name, c := range map[string]struct {
		opts simOptions
		seed int64 // at or after which it happens
	}{
		"clocks":    {simOptions{drift: 0.25}, 15},
		"no nonces": {simOptions{drift: fair.drift, noNonces: true}, 0},
		"forgets":   {simOptions{drift: fair.drift, forgets: true}, 355},
	} {
		seed, what := c.seed, ""
		for ; what == "" && seed < c.seed+2000; seed++ {
			what = newSimulation(seed, c.opts).run()
		}
		require.Contains(t, what, "both", name)
		t.Logf("%s: seed %d, %s", name, seed-1, what)
	}
}
