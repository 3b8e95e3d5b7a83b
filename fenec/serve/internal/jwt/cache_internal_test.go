package jwt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is used stays, what is not goes, and there is never more than the bound.
func TestTheCacheIsBounded(t *testing.T) {
	for _, c := range []struct{ length, most int }{{10, 2 * cachedTokens}, {64 << 10, 2 * cachedText / (64 << 10)}} {
		x := &cache[int]{}
		name := func(i int) string { return fmt.Sprintf("%0*d", c.length, i) }
		used := name(0)
		x.add(used, &Accepted[int]{})
		for i := 1; i < 3*c.most; i++ {
			x.add(strings.Clone(name(i)), &Accepted[int]{As: i})
			require.NotNil(t, x.get(used))
			require.LessOrEqual(t, len(x.young)+len(x.old), c.most)
		}
		require.Nil(t, x.get(name(1)))
		require.Equal(t, 3*c.most-1, x.get(name(3*c.most-1)).As)
		require.GreaterOrEqual(t, len(x.young)+len(x.old), c.most/2)
	}
}
