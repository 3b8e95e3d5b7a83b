package hll_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/hll"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// sketch returns the sketch of n distinct values.
func sketch(r *rand.Rand, n int) *hll.Sketch {
	var s hll.Sketch
	for range n {
		s.Add(r.Uint64())
	}
	return &s
}

func TestEstimate(t *testing.T) {
	r := newRand(1)
	for n, tolerance := range map[int]float64{
		0: 0, 1: 0, 2: 0, 10: 0.1, 100: 0.02, 1000: 0.02, 5000: 0.03, 40_000: 0.03, 100_000: 0.03, 1_000_000: 0.03,
	} {
		got := float64(sketch(r, n).Estimate())
		require.InDelta(t, n, got, math.Ceil(float64(n)*tolerance), n)
	}
}

// TestStandardError checks the error that the package promises, over numbers of
// values where other estimators are biased.
func TestStandardError(t *testing.T) {
	r := newRand(2)
	for _, n := range []int{20_000, 45_000, 80_000} {
		var squares, sum float64
		const rounds = 100
		for range rounds {
			e := float64(sketch(r, n).Estimate())/float64(n) - 1
			squares += e * e
			sum += e
		}
		require.Less(t, math.Sqrt(squares/rounds), 0.0105, n)
		require.Less(t, math.Abs(sum/rounds), 0.003, n)
	}
}

// TestExtremes checks that full registers do not break the estimate.
func TestExtremes(t *testing.T) {
	full, err := hll.Decode([]byte("\x01\x0e" + strings.Repeat("\x33", 16384)))
	require.NoError(t, err)
	require.Equal(t, int64(math.MaxInt64), full.Estimate())
	high, err := hll.Decode([]byte("\x01\x0e" + strings.Repeat("\x30", 16384)))
	require.NoError(t, err)
	require.Greater(t, high.Estimate(), int64(1)<<60)
	empty, err := hll.Decode([]byte("\x01\x0e" + strings.Repeat("\x00", 16384)))
	require.NoError(t, err)
	require.Zero(t, empty.Estimate())
}

// TestEncoding pins the bytes that files hold.
func TestEncoding(t *testing.T) {
	var s hll.Sketch
	require.Equal(t, "\x02\x0e", string(s.Append(nil)))
	s.Add(0xffff<<48 | 1<<49)    // register 16383, no zeros
	s.Add(0x0102 << 50)          // register 258, zeros only
	s.Add(0x0102<<50 | 1<<40)    // a lower rank
	s.Add(0x0001<<50 | 1<<47)    // register 1, two zeros
	s.Add(0x0001<<50 | 0x1fffff) // a higher rank
	require.Equal(t, "x\x02\x0e\x01\x00\x1e\x02\x01\x33\xff\x3f\x01", string(s.Append([]byte("x"))))
	require.Equal(t, int64(3), s.Estimate())

	r := newRand(3)
	for len(s.Append(nil)) < 2+3*1024 {
		s.Add(r.Uint64())
	}
	require.Equal(t, byte(2), s.Append(nil)[0])
	require.LessOrEqual(t, s.MemoryBytes(), 8<<10)
	for s.Append(nil)[0] == 2 {
		s.Add(r.Uint64())
	}
	dense := s.Append(nil)
	require.Len(t, dense, 2+16384)
	require.Equal(t, "\x01\x0e\x00\x1e", string(dense[:4]))
	require.Equal(t, byte(0x33), dense[2+258])
	require.Equal(t, byte(1), dense[2+16383])
	require.Equal(t, 16384, s.MemoryBytes())
}

func TestDecodeErrors(t *testing.T) {
	for name, b := range map[string]string{
		"nothing":              "",
		"half a head":          "\x02",
		"another form":         "\x03\x0e",
		"another precision":    "\x02\x0c",
		"half an entry":        "\x02\x0e\x01\x00",
		"an index too high":    "\x02\x0e\x00\x40\x01",
		"a rank of zero":       "\x02\x0e\x01\x00\x00",
		"a rank too high":      "\x02\x0e\x01\x00\x34",
		"an index twice":       "\x02\x0e\x01\x00\x01\x01\x00\x02",
		"indices out of order": "\x02\x0e\x02\x00\x01\x01\x00\x01",
		"no registers":         "\x01\x0e",
		"too few registers":    "\x01\x0e" + strings.Repeat("\x01", 16383),
		"too many registers":   "\x01\x0e" + strings.Repeat("\x01", 16385),
		"a register too high":  "\x01\x0e" + strings.Repeat("\x01", 16383) + "\x34",
	} {
		_, err := hll.Decode([]byte(b))
		require.Equal(t, fault.Type, fault.KindOf(err), name)
	}
	var many []byte
	for i := range 1025 {
		many = append(many, byte(i), byte(i>>8), 1)
	}
	_, err := hll.Decode(append([]byte("\x02\x0e"), many...))
	require.Equal(t, fault.Type, fault.KindOf(err))
	_, err = hll.Decode(append([]byte("\x02\x0e"), many[:3*1024]...))
	require.NoError(t, err)
}

// TestMerge checks that merging gives what adding all values to one gives.
func TestMerge(t *testing.T) {
	for _, sizes := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {300, 300}, {900, 900}, {100, 20_000}, {20_000, 100}, {20_000, 20_000}} {
		r := newRand(4)
		var all hll.Sketch
		var parts [2]hll.Sketch
		for i, n := range sizes {
			for range n {
				h := r.Uint64N(30_000) * 0x9e3779b97f4a7c15
				parts[i].Add(h)
				all.Add(h)
			}
		}
		right := parts[1].Append(nil)
		parts[0].Merge(&parts[1])
		require.Equal(t, all.Append(nil), parts[0].Append(nil), sizes)
		require.Equal(t, right, parts[1].Append(nil), sizes)
		parts[0].Merge(&all)
		require.Equal(t, all.Append(nil), parts[0].Append(nil), sizes)
	}
}

func TestAddValue(t *testing.T) {
	var s hll.Sketch
	for range 3 {
		for _, v := range []value.Value{
			value.Int(3), value.Float(3), value.Text("3"), value.Bytes([]byte("3")), value.Timestamp(3), value.Bool(true), value.Null,
			value.Text(strings.Repeat("x", 500)),
		} {
			s.AddValue(v)
		}
	}
	require.Equal(t, int64(8), s.Estimate())

	var one hll.Sketch
	one.AddValue(value.Text("ann"))
	require.Equal(t, "\x02\x0e\x39\x16\x01", string(one.Append(nil)), "the bytes that files hold")
	require.Zero(t, testing.AllocsPerRun(10, func() { one.AddValue(value.Text("ann")) }))

	var ints hll.Sketch
	for i := range int64(10_000) {
		ints.AddValue(value.Int(i))
	}
	require.InEpsilon(t, 10_000, ints.Estimate(), 0.02)
}

func FuzzDecode(f *testing.F) {
	r := newRand(5)
	f.Add(sketch(r, 3).Append(nil))
	f.Add(sketch(r, 3000).Append(nil))
	f.Add([]byte("\x02\x0e\x00\x40\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := hll.Decode(b)
		if err != nil {
			require.Equal(t, fault.Type, fault.KindOf(err))
			return
		}
		require.Equal(t, b, s.Append(nil))
		require.GreaterOrEqual(t, s.Estimate(), int64(0))
		var merged hll.Sketch
		merged.Merge(s)
		require.Equal(t, s.Estimate(), merged.Estimate())
	})
}

func BenchmarkAdd(b *testing.B) {
	for name, n := range map[string]int{"sparse": 500, "dense": 100_000} {
		b.Run("form="+name, func(b *testing.B) {
			r := newRand(6)
			s := sketch(r, n)
			hashes := make([]uint64, 256)
			for i := range hashes {
				hashes[i] = r.Uint64()
				s.Add(hashes[i])
			}
			for b.Loop() {
				for _, h := range hashes {
					s.Add(h)
				}
			}
		})
	}
}
