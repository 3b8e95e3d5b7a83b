package base

import "testing"

// SetMapAhead changes how far maps reach, until the test ends.
func SetMapAhead(t *testing.T, n int64) {
	old := mapAhead
	mapAhead = n
	t.Cleanup(func() { mapAhead = old })
}
