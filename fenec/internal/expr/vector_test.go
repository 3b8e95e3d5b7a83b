package expr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// TestMeasuresAreScores compares what a filter computes with the scores that near
// gives, which are float32s, and with sums in the order of the components.
func TestMeasuresAreScores(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 7, 8, 9, 16, 17, 31, 128, 333} {
		e, q := make([]float32, n), make([]float32, n)
		for i := range e {
			e[i] = vector.FromFloat16(vector.ToFloat16(float32(r.NormFloat64())))
			q[i] = float32(r.NormFloat64())
		}
		col := collection(t, fmt.Sprintf("e vector<%d>, h vector<%[1]d, f16>", n))
		text := value.Vector(e).String()
		w := &world{t, col, encode(t, col, fmt.Sprintf(`{"e": %s, "h": %[1]s}`, text))}
		var dot, ee, qq, gap float64
		for i := range e {
			x, y := float64(e[i]), float64(q[i])
			dot, ee, qq, gap = dot+x*y, ee+x*x, qq+y*y, gap+(x-y)*(x-y)
		}
		for _, test := range []struct {
			function string
			metric   vector.Metric
			slow     float64
		}{
			{"cosine", vector.Cosine, dot / math.Sqrt(ee*qq)},
			{"dot", vector.Dot, dot},
			{"l2", vector.L2, math.Sqrt(gap)},
		} {
			for _, call := range []string{"f(e, $1)", "f($1, e)", "f(h, $1)", "f($1, h)"} {
				got, err := w.eval(strings.Replace(call, "f", test.function, 1), value.Vector(q))
				require.NoError(t, err)
				require.InEpsilon(t, test.slow, got.AsFloat(), 1e-9)
				require.Equal(t, vector.Score(test.metric, e, q), float32(got.AsFloat()), "%s of %d components", test.function, n)
			}
		}
	}
}
