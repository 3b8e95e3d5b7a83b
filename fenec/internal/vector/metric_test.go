package vector

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseMetric(t *testing.T) {
	for name, want := range map[string]Metric{
		"cosine": Cosine, "cos": Cosine, "l2": L2, "euclidean": L2, "dot": Dot, "ip": Dot,
	} {
		m, ok := ParseMetric(name)
		require.True(t, ok, name)
		require.Equal(t, want, m, name)
		again, ok := ParseMetric(m.String())
		require.True(t, ok)
		require.Equal(t, m, again)
	}
	_, ok := ParseMetric("manhattan")
	require.False(t, ok)
}

func TestBetter(t *testing.T) {
	require.True(t, Cosine.Better(0.5, 0.25))
	require.False(t, Cosine.Better(0.25, 0.25))
	require.True(t, Dot.Better(-1, -2))
	require.True(t, L2.Better(1, 2))
	require.False(t, L2.Better(2, 1))
}
