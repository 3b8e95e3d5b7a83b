package store_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

const (
	benchRows     = 1_000_000
	rowSpace      = 1 // ids with 200 bytes each
	entrySpace    = 2 // values of 9 bytes with ids, without a value
	benchRowBytes = 200
)

func benchID(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

// benchEntry is the entry of row i: fifteen rows share a value, and lie apart.
func benchEntry(i int) []byte {
	const values = benchRows / 15
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{3}, uint64(i%values)), uint64(i))
}

// readable are stores in memory that benchmarks share, by how many rows and
// entries are put again, spread evenly, in the front. All are in the base.
var readable = map[int]*store.Store{}

func openReadable(b *testing.B, fresh int) *store.Store {
	if s := readable[fresh]; s != nil {
		return s
	}
	s, err := store.Open("", store.Options{Replay: replay, Sync: store.SyncOff, NoCheckpoint: true, FrontBytes: 1 << 30})
	require.NoError(b, err)
	putRows(b, s, 1)
	require.NoError(b, s.Checkpoint(ctx))
	if fresh > 0 {
		putRows(b, s, benchRows/fresh)
	}
	readable[fresh] = s
	return s
}

// putRows puts one row of as many as step, with its entry.
func putRows(b *testing.B, s *store.Store, step int) {
	val := make([]byte, benchRowBytes)
	for i := 0; i < benchRows; {
		blk, err := s.Begin(ctx, nil)
		require.NoError(b, err)
		for n := 0; n < 20_000 && i < benchRows; n++ {
			_ = blk.Put(rowSpace, benchID(i), val)
			_ = blk.Put(entrySpace, benchEntry(i), nil)
			_ = blk.Log(nil, 1)
			i += step
		}
		_, err = blk.Commit(nil)
		require.NoError(b, err)
	}
}

// each runs a benchmark with nothing, little and much in the front, and every
// page of the base read before.
func each(b *testing.B, run func(b *testing.B, v *store.View)) {
	for _, fresh := range []int{0, 1000, 100_000} {
		b.Run(fmt.Sprint("fresh=", fresh), func(b *testing.B) {
			sn, err := openReadable(b, fresh).Snapshot()
			require.NoError(b, err)
			defer sn.Close()
			v := sn.View()
			defer v.Release()
			require.Equal(b, benchRows, countKeys(v, rowSpace, nil, nil))
			require.Equal(b, benchRows, countKeys(v, entrySpace, nil, nil))
			run(b, v)
		})
	}
}

func countKeys(v *store.View, space uint32, lower, upper []byte) int {
	it, n := v.Iter(space, lower, upper), 0
	for it.First(); it.Valid(); it.Next() {
		n += 1 + int(it.Key()[0]>>7)
	}
	return n
}

// BenchmarkIter walks over a whole space.
func BenchmarkIter(b *testing.B) {
	each(b, func(b *testing.B, v *store.View) {
		for space, name := range map[uint32]string{rowSpace: "row", entrySpace: "entry"} {
			for _, reverse := range []bool{false, true} {
				b.Run(fmt.Sprintf("of=%s/reverse=%t", name, reverse), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if reverse {
							it, n := v.Iter(space, nil, nil), 0
							for it.Last(); it.Valid(); it.Prev() {
								n += 1 + int(it.Key()[0]>>7)
							}
							require.Equal(b, benchRows, n)
						} else {
							require.Equal(b, benchRows, countKeys(v, space, nil, nil))
						}
					}
					perKey(b, benchRows)
				})
			}
		}
	})
}

// BenchmarkGetAscending gets rows in order of their ids, by one view.
func BenchmarkGetAscending(b *testing.B) {
	each(b, func(b *testing.B, v *store.View) {
		for _, step := range []int{1, 7, 67, 1009} {
			b.Run(fmt.Sprint("step=", step), func(b *testing.B) {
				b.ReportAllocs()
				key := make([]byte, 8)
				for b.Loop() {
					for i := 0; i < benchRows; i += step {
						binary.BigEndian.PutUint64(key, uint64(i))
						if val, err := v.Get(rowSpace, key); len(val) != benchRowBytes || err != nil {
							b.Fatal(err)
						}
					}
				}
				perKey(b, (benchRows+step-1)/step)
			})
		}
	})
}

// BenchmarkGetScattered gets rows in no order, by one view.
func BenchmarkGetScattered(b *testing.B) {
	each(b, func(b *testing.B, v *store.View) {
		key, at := make([]byte, 8), 0
		b.ReportAllocs()
		for b.Loop() {
			at = (at + 618_033) % benchRows
			binary.BigEndian.PutUint64(key, uint64(at))
			if val, err := v.Get(rowSpace, key); len(val) != benchRowBytes || err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCount counts the keys of half a space.
func BenchmarkCount(b *testing.B) {
	each(b, func(b *testing.B, v *store.View) {
		lower, upper := benchEntry(1000), benchEntry(1000)
		binary.BigEndian.PutUint64(upper[1:], benchRows/30)
		want := countKeys(v, entrySpace, lower, upper)
		b.Run("of=entry", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n, err := v.Count(entrySpace, lower, upper)
				require.NoError(b, err)
				require.EqualValues(b, want, n)
			}
			perKey(b, want)
		})
	})
}

// BenchmarkSpans walks over the entries of many values, in their order, by an
// iterator for each or by one for all.
func BenchmarkSpans(b *testing.B) {
	each(b, func(b *testing.B, v *store.View) {
		for _, step := range []int{1, 10, 1000} {
			for _, one := range []bool{false, true} {
				b.Run(fmt.Sprintf("step=%d/one=%t", step, one), func(b *testing.B) {
					b.ReportAllocs()
					spans, values := 0, uint64(benchRows/15)
					lower, upper := benchEntry(0)[:9], benchEntry(0)[:9]
					it := v.Iter(entrySpace, lower, upper)
					for b.Loop() {
						n := 0
						for at := uint64(0); at < values; at += uint64(step) {
							binary.BigEndian.PutUint64(lower[1:], at)
							binary.BigEndian.PutUint64(upper[1:], at+1)
							if it.Reset(lower, upper); !one {
								it = v.Iter(entrySpace, lower, upper)
							}
							for it.First(); it.Valid(); it.Next() {
								n++
							}
							spans++
						}
						require.GreaterOrEqual(b, n, 15*int(values)/step)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
				})
			}
		}
	})
}

func perKey(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
}
