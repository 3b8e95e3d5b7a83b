package metrics

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShapes(t *testing.T) {
	var s Shapes
	s.Observe("", []byte("get t"), 3*time.Millisecond, 2, false)
	s.Observe("", []byte("get t"), time.Millisecond, 0, true)
	s.Observe("", []byte("put t"), 10*time.Millisecond, 1, false)
	require.Equal(t, []Figures{
		{"", "put t", 1, 1, 0, 10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond},
		{"", "get t", 2, 2, 1, 4 * time.Millisecond, time.Millisecond, 3 * time.Millisecond},
	}, s.List(""))
	s.Forget("")
	require.Empty(t, s.List(""))
}

func TestShapesThatAreCalledStay(t *testing.T) {
	var s Shapes
	for range 3 {
		s.Observe("", []byte("often"), time.Microsecond, 0, false)
	}
	for i := range 3 * mostShapes {
		s.Observe("", []byte(strconv.Itoa(i)), time.Microsecond, 0, false)
	}
	list := s.List("")
	require.LessOrEqual(t, len(list), mostShapes)
	require.Greater(t, len(list), mostShapes*9/10)
	require.Contains(t, list, Figures{"", "often", 3, 0, 0, 3 * time.Microsecond, time.Microsecond, time.Microsecond})
}

func TestShapesOfTenants(t *testing.T) {
	var s Shapes
	s.Observe("acme", []byte("get t"), 2, 1, false)
	s.Observe("beta", []byte("get t"), 1, 1, false)
	acme, beta := Figures{"acme", "get t", 1, 1, 0, 2, 2, 2}, Figures{"beta", "get t", 1, 1, 0, 1, 1, 1}
	require.Equal(t, []Figures{acme, beta}, s.List(""))
	require.Equal(t, []Figures{beta}, s.List("beta"))
	s.Forget("acme")
	require.Equal(t, []Figures{beta}, s.List(""))
}
