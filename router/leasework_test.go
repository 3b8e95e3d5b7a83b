package router

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A repair that fails is tried again, for a while; what is due meanwhile is one more.
func TestRepairIsTriedAgain(t *testing.T) {
	inCluster(t, func(c *cluster) {
		errs := []error{errors.New("not yet"), nil}
		tries, lost := 0, ""
		c.leasing.repair = func(_ context.Context, node string) error {
			tries++
			require.Equal(t, lost, node)
			if tries > len(errs) {
				return nil
			}
			return errs[tries-1]
		}
		lose := func(node string) {
			lost = node
			c.with(node, func(n *fenced) { n.cut = true })
			c.pass(2 * testTerm)
			c.with(node, func(n *fenced) { n.cut = false })
			c.pass(2 * testTerm)
		}
		lose("n1")
		require.Equal(t, 2, tries)
		require.Equal(t, 1, c.logged("node n1 is back, but copies on it do not follow yet: not yet; trying again"))

		errs = make([]error, 2+repairTries)
		for i := range errs {
			errs[i] = errors.New("never")
		}
		lose("n2")
		c.pass(50 * testTerm)
		require.Equal(t, 2+repairTries, tries)
		require.Equal(t, 1, c.logged("node n2 is back, but copies on it do not follow: never"))

		running := 0
		wait := make(chan struct{})
		c.leasing.repair = func(context.Context, string) error {
			running++
			<-wait
			return nil
		}
		for range 3 {
			c.leasing.mu.Lock()
			c.leasing.repairLocked("n3")
			c.leasing.mu.Unlock()
		}
		synctest.Wait()
		require.Equal(t, 1, running)
		close(wait)
		synctest.Wait()
		require.Equal(t, 2, running)
		require.False(t, c.leasing.tenures["n3"].repairs.running)
	})
}
