package vector

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// clustered returns n vectors around centres, with noise 1.5 times as wide as those.
func clustered(r *rand.Rand, centres [][]float32, n int) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		v := randomVector(r, len(centres[0]))
		for j, c := range centres[r.IntN(len(centres))] {
			v[j] = 2*c + 3*v[j]
		}
		vectors[i] = v
	}
	return vectors
}

func randomVectors(r *rand.Rand, n, dim int) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = randomVector(r, dim)
	}
	return vectors
}

// encode returns the codes of the vectors.
func encode(z Quantizer, vectors [][]float32) []*byte {
	size := z.CodeSize()
	words := make([]uint64, size/8*len(vectors))
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
	codes := make([]*byte, len(vectors))
	for i, v := range vectors {
		z.Encode(all[i*size:(i+1)*size], v)
		codes[i] = &all[i*size]
	}
	return codes
}

// distance is what a Measure estimates.
func distance(m Metric, a, b []float32) float64 {
	switch m {
	case L2:
		return math.Pow(Distance(a, b), 2)
	case Dot:
		return -Product(a, b)
	}
	return 1 - Similarity(a, b)
}

func quantizers(m Metric, sample [][]float32) map[string]Quantizer {
	out := map[string]Quantizer{
		"int8":                LearnInt8(m, len(sample[0]), sample),
		"int8 with no sample": LearnInt8(m, len(sample[0]), nil),
	}
	if m == Cosine {
		out["bits"] = LearnBits(sample)
	}
	return out
}

// TestDistances compares estimates with distances, from vectors and from codes.
func TestDistances(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, dim := range []int{1, 2, 63, 64, 65, 200} {
		vectors := clustered(r, randomVectors(r, 5, dim), 60)
		for m := range Dot + 1 {
			spread := 0.0
			for _, v := range vectors {
				spread += math.Abs(distance(m, vectors[0], v)) / float64(len(vectors))
			}
			for name, z := range quantizers(m, vectors) {
				codes := encode(z, vectors)
				measure, out := z.NewMeasure(), make([]float32, len(codes))
				mean := func() (sum float64) {
					measure.Distances(codes, out)
					for i, v := range vectors {
						sum += math.Abs(distance(m, vectors[0], v) - float64(out[i]))
					}
					return sum / float64(len(vectors)) / spread
				}
				tolerance := 0.03
				if name == "bits" {
					tolerance = 0.15
				}
				measure.SetVector(vectors[0])
				require.Less(t, mean(), tolerance, "%s, %s, %d components", name, m, dim)
				measure.SetCode(codes[0])
				require.Less(t, mean(), 2*tolerance, "%s, %s, %d components, from a code", name, m, dim)
			}
		}
	}
}

// TestRecall demands that the nearest vectors are among the candidates that
// codes choose.
func TestRecall(t *testing.T) {
	const n, dim, want, candidates = 4000, 96, 10, 200
	r := rand.New(rand.NewPCG(21, 22))
	centres := randomVectors(r, 40, dim)
	vectors, queries := clustered(r, centres, n), clustered(r, centres, 20)
	floors := map[string]float64{"int8": 1, "int8 with no sample": 1, "bits": 0.95}
	for m := range Dot + 1 {
		for name, z := range quantizers(m, vectors[:2048]) {
			codes, out, measure := encode(z, vectors), make([]float32, n), z.NewMeasure()
			found := 0
			for _, q := range queries {
				measure.SetVector(q)
				measure.Distances(codes, out)
				chosen := map[uint64]bool{}
				for _, h := range best(L2, candidates, out) {
					chosen[h.ID] = true
				}
				s, scores := NewScorer(m, q), make([]float32, n)
				for i, v := range vectors {
					scores[i] = s.Score(v)
				}
				for _, h := range best(m, want, scores) {
					if chosen[h.ID] {
						found++
					}
				}
			}
			require.GreaterOrEqual(t, float64(found)/float64(len(queries)*want), floors[name], "%s, %s", name, m)
		}
	}
}

func best(m Metric, k int, scores []float32) []Hit {
	var top Top
	top.Reset(m, k)
	for i, x := range scores {
		top.Add(uint64(i), x)
	}
	return top.Hits()
}

// TestInt8FarFromOrigin shows what the mean of a sample is for.
func TestInt8FarFromOrigin(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	vectors := randomVectors(r, 100, 50)
	for _, v := range vectors {
		for i := range v {
			v[i] += 1e4
		}
	}
	z := LearnInt8(L2, 50, vectors)
	codes, out, measure := encode(z, vectors), make([]float32, 100), z.NewMeasure()
	measure.SetVector(vectors[7])
	measure.Distances(codes, out)
	for i, v := range vectors {
		require.InDelta(t, distance(L2, vectors[7], v), out[i], 2)
	}
}

// TestDistancesOfSpecialVectors checks that none gives a NaN.
func TestDistancesOfSpecialVectors(t *testing.T) {
	vectors := [][]float32{{0, 0, 0}, {1, 0, 0}, {1, 1, 1}, {huge, -huge, huge}, {tiny, tiny, 0}, {-huge, 0, 0}}
	for m := range Dot + 1 {
		for name, z := range quantizers(m, vectors) {
			codes, out, measure := encode(z, vectors), make([]float32, len(vectors)), z.NewMeasure()
			for i, v := range vectors {
				measure.SetVector(v)
				measure.Distances(codes, out)
				for _, d := range out {
					require.True(t, d-d == 0, "%s, %s: %v", name, m, out)
				}
				measure.SetCode(codes[i])
				measure.Distances(codes, out)
				for _, d := range out {
					require.True(t, d-d == 0, "%s, %s: %v", name, m, out)
				}
			}
			measure.Distances(nil, nil)
		}
	}
}

func TestMeasureAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	vectors := randomVectors(r, 50, 70)
	for name, z := range quantizers(Cosine, vectors) {
		codes, out, measure := encode(z, vectors), make([]float32, 50), z.NewMeasure()
		measure.Distances(codes, out)
		require.Zero(t, testing.AllocsPerRun(10, func() {
			measure.SetCode(codes[1])
			measure.Distances(codes, out)
		}), name)
	}
}

func encodings() map[string][]byte {
	r := rand.New(rand.NewPCG(27, 28))
	out := map[string][]byte{}
	for name, z := range quantizers(Cosine, randomVectors(r, 200, 5)) {
		out[name] = z.Append(nil)
	}
	out["int8 of products"] = LearnInt8(Dot, 3, nil).Append(nil)
	return out
}

func TestParseQuantizer(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	vectors := randomVectors(r, 300, 9)
	for m := range Dot + 1 {
		for name, z := range quantizers(m, vectors) {
			again, err := ParseQuantizer(z.Append([]byte("ab"))[2:])
			require.NoError(t, err, name)
			require.Equal(t, z, again, name)
		}
	}
}

func TestParseQuantizerDamage(t *testing.T) {
	for name, b := range encodings() {
		for i := range b {
			_, err := ParseQuantizer(b[:i])
			require.ErrorIs(t, err, ErrCorrupt, "%s cut at %d", name, i)
			b[i] ^= 0x10
			_, err = ParseQuantizer(b)
			require.ErrorIs(t, err, ErrCorrupt, "%s changed at %d", name, i)
			b[i] ^= 0x10
		}
	}
	// A right checksum does not help what makes no sense.
	vectors := [][]float32{{1, 0}, {0, 1}}
	for name, b := range map[string][]byte{
		"form":                 appendQuantizer(nil, 3, Cosine, vectors),
		"metric":               appendQuantizer(nil, formInt8, 3, vectors[:1]),
		"bits by distance":     appendQuantizer(nil, formBits, L2, vectors),
		"two means":            appendQuantizer(nil, formInt8, L2, vectors),
		"no components":        appendQuantizer(nil, formInt8, L2, [][]float32{{}}),
		"not a number":         appendQuantizer(nil, formInt8, L2, [][]float32{{float32(math.NaN())}}),
		"an infinity":          appendQuantizer(nil, formBits, Cosine, [][]float32{{float32(math.Inf(1))}}),
		"too many centroids":   appendQuantizer(nil, formBits, Cosine, split(make([]float32, 129), 1)),
		"components left over": appendQuantizer(nil, formBits, Cosine, [][]float32{{1, 2}, {1}}),
	} {
		_, err := ParseQuantizer(b)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}

func FuzzParseQuantizer(f *testing.F) {
	for _, b := range encodings() {
		f.Add(b[:len(b)-checksumSize])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b := appendChecksum(body[:len(body):len(body)], 0)
		z, err := ParseQuantizer(b)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.Equal(t, b, z.Append(nil))
	})
}
