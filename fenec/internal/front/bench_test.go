package front

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// fill inserts rows of 300 bytes until the front holds so many MiB, and returns
// it with the number of rows; key maps that to keys.
func fill(mib int64, key func(uint64) uint64) (*Front, uint64) {
	f, rows, value := New(), uint64(0), make([]byte, 300)
	for f.MemoryBytes() < mib<<20 {
		rows++
		f.Insert(7, id(key(rows)), rows, value, false)
	}
	return f, rows
}

func ascending(n uint64) uint64 { return n }

var keyOrders = []struct {
	name string
	key  func(uint64) uint64
}{{"ascending", ascending}, {"random", mix}}

// BenchmarkInsert fills fronts up to a size, one after the other. The loads
// beside the rows are two counters rewritten with each, or a counter and three
// index entries in spaces of their own.
func BenchmarkInsert(b *testing.B) {
	for _, order := range keyOrders {
		for _, beside := range []string{"nothing", "counters", "indexes"} {
			for _, mib := range []int64{4, 32, 64} {
				b.Run(fmt.Sprintf("order=%s/beside=%s/MiB=%d", order.name, beside, mib), func(b *testing.B) {
					benchmarkInsert(b, order.key, beside, mib<<20)
				})
			}
		}
	}
}

func benchmarkInsert(b *testing.B, order func(uint64) uint64, beside string, most int64) {
	f, seq := New(), uint64(0)
	value, key, entry := make([]byte, 300), make([]byte, 8), make([]byte, 17)
	b.ReportAllocs()
	for b.Loop() {
		if f.MemoryBytes() >= most {
			f = New()
		}
		seq++
		binary.BigEndian.PutUint64(key, order(seq))
		f.Insert(7, key, seq, value, false)
		switch beside {
		case "counters":
			f.Insert(0, []byte("rows"), seq, key, false)
			f.Insert(0, []byte("next"), seq, key, false)
		case "indexes":
			f.Insert(0, []byte("rows"), seq, key, false)
			for i := range uint64(3) {
				binary.BigEndian.PutUint64(entry[1:], mix(3*seq+i))
				copy(entry[9:], key)
				f.Insert(8+uint32(i), entry, seq, nil, false)
			}
		}
	}
}

func BenchmarkGet(b *testing.B) {
	for _, order := range keyOrders {
		for _, mib := range []int64{1, 4, 32, 64} {
			for _, found := range []bool{true, false} {
				b.Run(fmt.Sprintf("order=%s/MiB=%d/found=%t", order.name, mib, found), func(b *testing.B) {
					f, rows := fill(mib, order.key)
					benchmarkGet(b, f, rows, order.key, found)
				})
			}
		}
	}
}

func benchmarkGet(b *testing.B, f *Front, rows uint64, order func(uint64) uint64, found bool) {
	r, key := rand.New(rand.NewPCG(3, 4)), make([]byte, 8, 9)
	if !found {
		key = key[:9] // sorts right behind the key of a row
	}
	for b.Loop() {
		binary.BigEndian.PutUint64(key, order(1+r.Uint64N(rows)))
		if _, _, ok := f.Get(7, key, rows); ok != found {
			b.Fatal("found:", ok)
		}
	}
}

// BenchmarkGetVersion reads a counter that has been written a million times.
func BenchmarkGetVersion(b *testing.B) {
	const writes = 1_000_000
	f := New()
	for seq := uint64(1); seq <= writes; seq++ {
		f.Insert(0, []byte("rows"), seq, id(seq), false)
	}
	for _, age := range []uint64{0, 1, 1000, writes - 1} {
		b.Run(fmt.Sprintf("age=%d", age), func(b *testing.B) {
			for b.Loop() {
				f.Get(0, []byte("rows"), writes-age)
			}
		})
	}
}

func BenchmarkIter(b *testing.B) {
	for _, order := range keyOrders {
		f, rows := fill(64, order.key)
		for name, move := range map[string]func(*Iter) bool{"next": (*Iter).Next, "prev": (*Iter).Prev} {
			b.Run(fmt.Sprintf("order=%s/MiB=64/move=%s", order.name, name), func(b *testing.B) {
				it, start := f.NewIter(7, nil, nil, rows), (*Iter).First
				if name == "prev" {
					start = (*Iter).Last
				}
				for b.Loop() {
					if !move(it) {
						start(it)
					}
					_, _ = it.Key(), it.Value()
				}
			})
		}
	}
}

// BenchmarkBlock writes a row and two counters to an overlay used over and
// over, as a statement does that inserts one document.
func BenchmarkBlock(b *testing.B) {
	for _, size := range []int{300, 3000} {
		b.Run(fmt.Sprintf("value=%d", size), func(b *testing.B) {
			o, value, key, n := NewOverlay(), make([]byte, size), make([]byte, 8), uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				o.Reset()
				n++
				binary.BigEndian.PutUint64(key, n)
				o.Replace(7, key, value, false)
				o.Replace(0, []byte("rows"), key, false)
				o.Replace(0, []byte("next"), key, false)
			}
		})
	}
}

// BenchmarkCollect measures one run of the garbage collector beside a front. It
// is to cost what it costs beside none.
func BenchmarkCollect(b *testing.B) {
	for _, mib := range []int64{0, 64} {
		b.Run(fmt.Sprintf("MiB=%d", mib), func(b *testing.B) {
			f, _ := fill(mib, ascending)
			for b.Loop() {
				runtime.GC()
			}
			runtime.KeepAlive(f)
		})
	}
}

// BenchmarkOverhead reports what a row takes beside its key and value.
func BenchmarkOverhead(b *testing.B) {
	for b.Loop() {
		f, rows := fill(64, ascending)
		b.ReportMetric(float64(f.MemoryBytes())/float64(rows)-308, "overhead-B/row")
	}
}
