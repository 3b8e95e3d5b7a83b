package serve

import "testing"

// LowerLongestComplete bounds complete answers by n bytes until the test ends.
func LowerLongestComplete(t *testing.T, n int) {
	before := longestComplete
	longestComplete = n
	t.Cleanup(func() { longestComplete = before })
}
