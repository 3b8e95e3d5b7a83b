package hnsw

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// disk is where a test stores a graph.
type disk struct {
	Stored
}

func (d *disk) write(c *Changes) {
	d.Header = c.Header
	if c.Codes != nil {
		d.Codes = c.Codes
	}
	for _, chunk := range c.Chunks {
		for int(chunk.Number) >= len(d.Chunks) {
			d.Chunks = append(d.Chunks, nil)
		}
		d.Chunks[chunk.Number] = chunk.Data
	}
}

// load loads what is stored, with vectors by id.
func (d *disk) load(p Params, vectors [][]float32) (*Graph, error) {
	return Load(p, d.Stored, func(put func(uint64, []float32) bool) error {
		for id, v := range vectors {
			if v != nil {
				put(uint64(id), v)
			}
		}
		return nil
	})
}

func TestLoad(t *testing.T) {
	const dim = 20
	count := sized(2400, 2100)
	for _, metric := range sized(metrics, metrics[:1]) {
		for _, storage := range sized([]Storage{Float32, Float16, Int8, Bits}, []Storage{Float32, Int8}) {
			if storage == Bits && metric != vector.Cosine {
				continue
			}
			vectors := gaussian(1, count, dim)
			vectors[7], vectors[8], vectors[9] = vectors[6], vectors[6], make([]float32, dim)
			p := Params{Dim: dim, Metric: metric, Storage: storage, M: sized(DefaultM, 4), EFConstruction: sized(DefaultEFConstruction, 20)}
			m := newModel(t, p, vectors)
			var d disk
			d.write(m.Changes())
			require.Empty(t, m.Changes().Chunks)
			for _, id := range []int{3, 6, 500, 501, 2000} {
				m.remove(t, id)
			}
			m.put(t, 501, vectors[500])
			m.put(t, 7, vectors[700])
			d.write(m.Changes())
			for range 3 {
				g, err := d.load(p, m.vectors)
				require.NoError(t, err)
				require.Empty(t, g.Changes().Chunks, "nothing had to be dropped")
				require.Equal(t, m.Len(), g.Len())
				require.Equal(t, m.Dead(), g.Dead())
				loaded := &model{g, append([][]float32(nil), m.vectors...)}
				loaded.requireSound(t)
				for _, q := range gaussian(2, 30, dim) {
					want, wantEnd := search(t, m.Graph, Query{Vector: q, K: 20, EF: 60})
					got, gotEnd := search(t, g, Query{Vector: q, K: 20, EF: 60})
					require.Equal(t, wantEnd, gotEnd)
					// Dead nodes stand a little elsewhere, which may lead to others.
					require.GreaterOrEqual(t, common(got, want), 18)
				}
				loaded.repair(t)
				m.repair(t)
				loaded.requireSound(t)
				d.write(m.Changes())
			}
		}
	}
}

// Without dead nodes a loaded graph answers exactly as the one that was stored.
func TestLoadGivesTheSameAnswers(t *testing.T) {
	vectors := gaussian(1, sized(3000, 2100), 20)
	for _, storage := range sized([]Storage{Float32, Float16, Int8, Bits}, []Storage{Int8}) {
		p := Params{Dim: 20, Storage: storage, M: sized(DefaultM, 4), EFConstruction: sized(DefaultEFConstruction, 20)}
		m := newModel(t, p, vectors)
		for id := range 300 {
			m.remove(t, id)
		}
		m.repair(t)
		m.put(t, 3, vectors[3])
		var d disk
		d.write(m.Changes())
		g, err := d.load(p, m.vectors)
		require.NoError(t, err)
		for _, q := range gaussian(2, 30, 20) {
			want, _ := search(t, m.Graph, Query{Vector: q, K: 20, EF: 60})
			got, _ := search(t, g, Query{Vector: q, K: 20, EF: 60})
			require.Equal(t, want, got)
		}
		require.NoError(t, g.Insert(4, vectors[4]), "freed nodes are known")
		require.Equal(t, m.alloc.count, g.alloc.count)
	}
}

func common(a, b []Hit) (count int) {
	ids := map[uint64]bool{}
	for _, h := range a {
		ids[h.ID] = true
	}
	for _, h := range b {
		if ids[h.ID] {
			count++
		}
	}
	return count
}

// Ids whose rows are gone are dead, and nothing else is lost by it.
func TestLoadWithoutSomeVectors(t *testing.T) {
	count := sized(3000, 300)
	vectors := gaussian(1, count, 16)
	p := Params{Dim: 16, Metric: vector.L2}
	m := newModel(t, p, vectors)
	var d disk
	d.write(m.Changes())
	for id := 0; id < count; id += 3 {
		m.vectors[id] = nil
	}
	g, err := d.load(p, m.vectors)
	require.NoError(t, err)
	require.Equal(t, count/3*2, g.Len())
	require.Equal(t, count/3, g.Dead())
	loaded := &model{g, m.vectors}
	loaded.requireSound(t)
	queries := gaussian(2, 50, 16)
	want := loaded.fresh(t, queries, 50)
	require.GreaterOrEqual(t, loaded.recall(t, queries, 50), 0.97*want)
	loaded.repair(t)
	require.GreaterOrEqual(t, loaded.recall(t, queries, 50), 0.97*want)

	none, err := d.load(p, nil)
	require.NoError(t, err)
	require.Zero(t, none.Len())
	hits, _ := search(t, none, Query{Vector: queries[0], K: 10})
	require.Empty(t, hits)
}

func TestUndo(t *testing.T) {
	p := Params{Dim: 4, Storage: Int8, EFConstruction: 20}
	vectors := gaussian(1, 2500, 4)
	m := newModel(t, p, vectors)
	lost := m.Changes()
	require.Zero(t, m.Dirty())
	m.remove(t, 5)
	m.Undo(lost)
	require.Equal(t, len(lost.Chunks), m.Dirty())
	var d disk
	d.write(m.Changes())
	g, err := d.load(p, vectors)
	require.NoError(t, err)
	require.Equal(t, 2499, g.Len())
}

func TestLoadRefuses(t *testing.T) {
	p := Params{Dim: 4}
	vectors := gaussian(1, 100, 4)
	var d disk
	d.write(build(t, p, vectors).Changes())
	for name, params := range map[string]Params{
		"dimension": {Dim: 5}, "metric": {Dim: 4, Metric: vector.L2}, "m": {Dim: 4, M: 17}, "storage": {Dim: 4, Storage: Float16},
	} {
		_, err := d.load(params, vectors)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
	fewer := disk{d.Stored}
	fewer.Chunks = d.Chunks[:5]
	_, err := fewer.load(p, vectors)
	require.ErrorIs(t, err, ErrCorrupt)
	coded := disk{d.Stored}
	coded.Codes = []byte("x")
	_, err = coded.load(p, vectors)
	require.ErrorIs(t, err, ErrCorrupt)
	_, err = Load(p, d.Stored, func(func(uint64, []float32) bool) error { return os.ErrClosed })
	require.ErrorIs(t, err, os.ErrClosed)
}

// Damaged bytes give an error, or a graph that can be used.
func FuzzLoad(f *testing.F) {
	p := Params{Dim: 3, M: 4}
	vectors := gaussian(1, 60, 3)
	for i := range 5 {
		vectors[i*2] = vectors[20]
		vectors[30+i] = make([]float32, 3)
	}
	m := newModel(f, p, vectors)
	for id := range 10 {
		m.remove(f, id)
	}
	var whole disk
	whole.write(m.Changes())
	f.Add(whole.Header, bytes.Join(whole.Chunks, nil), uint16(0), byte(0))
	for i := range uint16(40) {
		f.Add(whole.Header, bytes.Join(whole.Chunks, nil), i*37, byte(i))
	}
	f.Fuzz(func(t *testing.T, header, chunks []byte, at uint16, with byte) {
		d := disk{Stored{Header: header}}
		chunks = bytes.Clone(chunks)
		if int(at) < len(chunks) {
			chunks[at] ^= with
		}
		for _, c := range whole.Chunks {
			n := min(len(c), len(chunks))
			d.Chunks = append(d.Chunks, chunks[:n])
			chunks = chunks[n:]
		}
		g, err := d.load(p, vectors)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		hits, _, err := g.Search(context.Background(), Query{Vector: vectors[11], K: 5}, nil)
		require.NoError(t, err)
		require.LessOrEqual(t, len(hits), 5)
		rng := rand.New(rand.NewPCG(1, 1))
		for range 20 {
			id := rng.Uint64N(60)
			g.Delete(id)
			require.NoError(t, g.Insert(id, vectors[id]))
		}
		require.NoError(t, g.Repair(context.Background()))
	})
}

func BenchmarkLoad(b *testing.B) {
	if testing.Short() {
		b.Skip("builds a large graph")
	}
	const count = 100_000
	p := Params{Dim: 128, EFConstruction: 40}
	vectors := clustered(storedStream, count, 128)
	g := build(b, p, vectors)
	var d disk
	start := time.Now()
	d.write(g.Changes())
	b.Logf("Changes: %v", time.Since(start))
	var links, vecs time.Duration
	size := 0
	for _, c := range d.Chunks {
		size += len(c)
	}
	b.ReportMetric(float64(size)/count, "bytes/node")
	for b.Loop() {
		linking := time.Now()
		var filling time.Time
		_, err := Load(p, d.Stored, func(put func(uint64, []float32) bool) error {
			filling = time.Now()
			for id, v := range vectors {
				put(uint64(id), v)
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		links += filling.Sub(linking)
		vecs += time.Since(filling)
	}
	b.ReportMetric(float64(links.Microseconds())/float64(b.N)/1000, "ms/links")
	b.ReportMetric(float64(vecs.Microseconds())/float64(b.N)/1000, "ms/vectors")
}
