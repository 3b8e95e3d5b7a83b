package front

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// id returns the key of a row.
func id(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// mix returns n's place in a shuffled order of all numbers: the finalizer of
// splitmix64, which is a bijection.
func mix(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// randomFront makes a front of n versions, and its model.
func randomFront(r *rand.Rand, n int) (*Front, model, uint64) {
	f, m, seq := New(), model{}, uint64(0)
	for range n {
		seq += uint64(r.IntN(3)) // often two versions of a key share one
		p := place{testSpaces[r.IntN(len(testSpaces))], string(randomKey(r))}
		w := written{seq, make([]byte, r.IntN(40)), r.IntN(4) == 0}
		for i := range w.value {
			w.value[i] = byte(r.Uint32())
		}
		f.Insert(p.space, []byte(p.key), w.seq, w.value, w.tombstone)
		m.insert(p, w)
	}
	return f, m, seq
}

func TestFrontAgainstModel(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			f, m, last := randomFront(r, 1+r.IntN(800))
			require.Equal(t, m.versions(), f.Len())
			checkLinks(t, &f.list)
			for range 6 {
				maxSeq := r.Uint64N(last + 2)
				checkGets(t, f, m, maxSeq)
				checkFinger(t, r, f, m, maxSeq)
				checkFold(t, m, f.NewFoldIter(maxSeq), maxSeq)
				checkWalk(t, r, f, m, maxSeq)
			}
			checkFold(t, m, f.NewFoldIter(math.MaxUint64), math.MaxUint64)
		})
	}
}

func checkGets(t *testing.T, f *Front, m model, maxSeq uint64) {
	t.Helper()
	for p := range m {
		value, tombstone, ok := f.Get(p.space, []byte(p.key), maxSeq)
		want, wantOK := m.get(p, maxSeq)
		require.Equal(t, wantOK, ok, "%v at %d", p, maxSeq)
		require.Equal(t, want.tombstone, tombstone, "%v at %d", p, maxSeq)
		require.True(t, bytes.Equal(want.value, value), "%v at %d", p, maxSeq)
		require.Equal(t, !ok || tombstone, value == nil, "only what is there has a value, be it empty")
	}
	_, _, ok := f.Get(2, nil, maxSeq)
	require.False(t, ok, "a space that was never written")
}

// checkFinger gets keys that are there and keys that are not by one finger, in
// order and in none.
func checkFinger(t *testing.T, r *rand.Rand, f *Front, m model, maxSeq uint64) {
	t.Helper()
	keys := m.at(math.MaxUint64)
	for range 100 {
		keys = append(keys, place{testSpaces[r.IntN(len(testSpaces))], string(randomKey(r))})
	}
	if r.IntN(2) == 0 {
		sort.Slice(keys, func(i, j int) bool { return keys[i].key < keys[j].key })
	}
	var finger Finger
	for _, p := range keys {
		value, tombstone, ok := finger.Get(f, p.space, []byte(p.key), maxSeq)
		want, wantOK := m.get(p, maxSeq)
		require.Equal(t, wantOK, ok, "%v at %d", p, maxSeq)
		require.Equal(t, want.tombstone, tombstone, "%v at %d", p, maxSeq)
		require.True(t, bytes.Equal(want.value, value), "%v at %d", p, maxSeq)
	}
	_, _, ok := finger.Get(New(), keys[0].space, []byte(keys[0].key), maxSeq)
	require.False(t, ok, "another front has none of them")
}

func checkWalk(t *testing.T, r *rand.Rand, f *Front, m model, maxSeq uint64) {
	t.Helper()
	space := testSpaces[r.IntN(len(testSpaces))]
	lower, upper := randomBound(r), randomBound(r)
	w := walker{
		t: t, m: m, space: space, maxSeq: maxSeq, at: -1,
		it:   f.NewIter(space, lower, upper, maxSeq),
		keys: m.keys(space, lower, upper, maxSeq),
	}
	require.False(t, w.it.Valid(), "an iterator starts at no key")
	for range 60 {
		if r.IntN(5) == 0 {
			lower, upper = randomBound(r), randomBound(r)
			w.it.Reset(lower, upper)
			w.keys, w.at = m.keys(space, lower, upper, maxSeq), -1
			require.False(t, w.it.Valid(), "other bounds leave it at no key")
		}
		w.step(r.IntN(4), randomKey(r))
		for range r.IntN(4) {
			w.step(4+r.IntN(2), nil)
		}
	}
	for w.step(0, nil); w.at >= 0; {
		w.step(4, nil)
	}
	for w.step(1, nil); w.at >= 0; {
		w.step(5, nil)
	}
}

func TestInsertOrders(t *testing.T) {
	const n = 5000
	orders := map[string]func(i uint64) uint64{
		"ascending":  func(i uint64) uint64 { return i },
		"descending": func(i uint64) uint64 { return n - i },
		"shuffled":   func(i uint64) uint64 { return i * 2654435761 % 5003 },
		"zigzag":     func(i uint64) uint64 { return i%2*n + i },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			f, m := New(), model{}
			for i := range uint64(n) {
				// More spaces than there are fingers, rewritten in turn.
				row, index, counter := place{5, string(id(order(i)))}, place{uint32(6 + i%11), string(id(mix(i)))}, place{0, "rows"}
				for _, p := range []place{row, index, counter} {
					w := written{seq: i, value: id(i)}
					f.Insert(p.space, []byte(p.key), w.seq, w.value, false)
					m.insert(p, w)
				}
			}
			require.Equal(t, 3*n, f.Len())
			checkLinks(t, &f.list)
			checkGets(t, f, m, n/2)
			checkFold(t, m, f.NewFoldIter(math.MaxUint64), math.MaxUint64)
		})
	}
}

func TestInsertCopies(t *testing.T) {
	f := New()
	key, value := []byte("key"), []byte("value")
	f.Insert(1, key, 1, value, false)
	key[0], value[0] = 'x', 'x'
	got, _, ok := f.Get(1, []byte("key"), 1)
	require.True(t, ok)
	require.Equal(t, "value", string(got))
	require.Equal(t, len(got), cap(got), "an append to a value would write over its neighbour")
}

func TestManyVersionsOfOneKey(t *testing.T) {
	const n, first = 20000, 1<<32 - 5000
	f := New()
	for i := range uint64(n) {
		// Of two with one sequence the later counts.
		f.Insert(0, []byte("rows"), first+2*i, nil, true)
		f.Insert(0, []byte("rows"), first+2*i, id(i), false)
	}
	_, _, ok := f.Get(0, []byte("rows"), first-1)
	require.False(t, ok)
	for after := range uint64(2*n + 2) {
		value, _, ok := f.Get(0, []byte("rows"), first+after)
		require.True(t, ok)
		require.Equal(t, min(after/2, n-1), binary.BigEndian.Uint64(value))
	}
	longest := 0
	for i := range uint64(n) {
		longest = max(longest, stepsTo(&f.list, []byte("rows"), first+2*i))
	}
	require.Less(t, longest, 50, "steps to a version, of about three times log2(n)")
}

// stepsTo counts the versions that visible looks at on its way.
func stepsTo(l *list, key []byte, maxSeq uint64) int {
	to := newTarget(0, key)
	n, _ := l.seek(&to)
	steps := 0
	for v := l.newest(n); l.seq(v) > maxSeq; steps++ {
		if j := l.jump(v); l.seq(j) > maxSeq {
			v = j
		} else {
			c, i := l.at(v)
			v = ref(c[i+versionBefore])
		}
	}
	return steps
}

func TestLimits(t *testing.T) {
	f := New()
	longest := bytes.Repeat([]byte{0xff}, MaxKey)
	f.Insert(1, longest, 5, nil, false)
	value, tombstone, ok := f.Get(1, longest, 5)
	require.True(t, ok)
	require.False(t, tombstone)
	require.NotNil(t, value)
	require.Empty(t, value)

	require.Panics(t, func() { f.Insert(1, append(longest, 0), 5, nil, false) }, "a longer key")
	require.Panics(t, func() { f.Insert(1, longest, 4, nil, false) }, "a lower sequence")
	f.list.held.Store(MaxBytes - 1<<20)
	require.Panics(t, func() { f.Insert(1, nil, 6, make([]byte, 2<<20), false) }, "more than fits")
}

func TestNewIterDoesNotAllocate(t *testing.T) {
	f := New()
	f.Insert(1, id(1), 1, nil, false)
	lower := id(0)
	allocs := testing.AllocsPerRun(100, func() {
		it := f.NewIter(1, lower, nil, 1)
		for it.First(); it.Valid(); it.Next() {
			_, _ = it.Key(), it.Value()
		}
		_, _, _ = f.Get(1, lower, 1)
	})
	require.Zero(t, allocs)
}

func FuzzFront(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x05abcde\x81\x01\x02\x03\x04"))
	f.Add(bytes.Repeat([]byte{1, 2, 0x80, 255}, 40))
	f.Fuzz(func(t *testing.T, script []byte) {
		s := scriptReader{script}
		fr, m, seq := New(), model{}, uint64(0)
		for len(s.rest) > 0 {
			op := s.byte()
			seq += uint64(op & 3)
			p := place{testSpaces[op>>2&3], string(s.bytes())}
			w := written{seq, s.bytes(), op&0x80 != 0}
			fr.Insert(p.space, []byte(p.key), seq, w.value, w.tombstone)
			m.insert(p, w)
		}
		require.Equal(t, m.versions(), fr.Len())
		checkLinks(t, &fr.list)
		r := rand.New(rand.NewPCG(seq, uint64(len(script))))
		for _, maxSeq := range []uint64{seq / 2, seq} {
			checkGets(t, fr, m, maxSeq)
			checkFold(t, m, fr.NewFoldIter(maxSeq), maxSeq)
			checkWalk(t, r, fr, m, maxSeq)
		}
	})
}

// scriptReader takes operands from a fuzzed script; past its end all are empty.
type scriptReader struct{ rest []byte }

func (s *scriptReader) byte() byte {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

func (s *scriptReader) bytes() []byte {
	n := min(int(s.byte()%24), len(s.rest))
	b := s.rest[:n:n]
	s.rest = s.rest[n:]
	return b
}
