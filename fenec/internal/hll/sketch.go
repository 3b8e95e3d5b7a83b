// Package hll counts distinct values approximately, in little memory.
//
// A [Sketch] is a HyperLogLog (Flajolet et al. 2007) of 16384 registers, each the
// highest rank met among the hashes that fall to it. Its estimate has a standard
// error of 0.81 %, and is close to exact for hundreds of values. Sketches of parts
// merge into the sketch of the whole.
//
// # Encoding
//
// Up to 1024 registers that are not zero, a sketch is encoded as
//
//	2, 14
//	for each of them, by ascending index:
//	  2 bytes  index, little endian
//	  1 byte   rank, from 1 to 51
//
// and above as
//
//	1, 14
//	16384 bytes, the rank of each register, 0 where there is none
//
// A register's index is the first 14 bits of a hash, and the rank one more than
// the number of zeros that the other 50 begin with. Hashes are those of [Hash].
// As sketches are stored, neither ever changes.
package hll

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

const (
	precision = 14
	registers = 1 << precision
	maxRank   = 64 - precision + 1

	maxSparse = 1024 // registers of a sketch that is a list of them

	formDense  = 1
	formSparse = 2
	headLen    = 2
	entryLen   = 3
)

// Sketch is the set of registers. The zero Sketch has met nothing and is ready to
// use. It is for one goroutine at a time.
type Sketch struct {
	// entries are the registers that are not zero, by ascending index, as long
	// as there are at most maxSparse.
	entries []entry
	// dense are all registers, once there are more; entries is nil then.
	dense []uint8
}

// entry is a register: its index and below that 8 bits of rank.
type entry uint32

func (e entry) index() int  { return int(e >> 8) }
func (e entry) rank() uint8 { return uint8(e) }

// Add counts a value by its hash.
func (s *Sketch) Add(hash uint64) {
	// A bit behind the rank's bits bounds the zeros.
	rank := bits.LeadingZeros64(hash<<precision|1<<(precision-1)) + 1
	s.raise(int(hash>>(64-precision)), uint8(rank))
}

// AddValue counts a value, which is told from others as its stored form is: 3 and
// 3.0 are two. A null counts like any other value.
func (s *Sketch) AddValue(v value.Value) {
	var buf [128]byte
	s.Add(Hash(value.Append(buf[:0], v)))
}

// Merge counts what o has counted. o is left as it is.
func (s *Sketch) Merge(o *Sketch) {
	for _, e := range o.entries {
		s.raise(e.index(), e.rank())
	}
	if o.dense == nil {
		return
	}
	s.spread()
	for i, rank := range o.dense {
		s.dense[i] = max(s.dense[i], rank)
	}
}

// raise makes a register hold at least rank.
func (s *Sketch) raise(index int, rank uint8) {
	if s.dense != nil {
		s.dense[index] = max(s.dense[index], rank)
		return
	}
	i, found := slices.BinarySearchFunc(s.entries, index, func(e entry, index int) int { return e.index() - index })
	e := entry(index)<<8 | entry(rank)
	switch {
	case found:
		s.entries[i] = max(s.entries[i], e)
	case len(s.entries) < maxSparse:
		s.entries = slices.Insert(s.entries, i, e)
	default:
		s.spread()
		s.dense[index] = rank
	}
}

// spread makes s dense.
func (s *Sketch) spread() {
	if s.dense != nil {
		return
	}
	s.dense = make([]uint8, registers)
	for _, e := range s.entries {
		s.dense[e.index()] = e.rank()
	}
	s.entries = nil
}

// MemoryBytes returns about how much memory s holds, in bytes.
func (s *Sketch) MemoryBytes() int { return 4*cap(s.entries) + cap(s.dense) }

// Append appends the encoding of s.
func (s *Sketch) Append(dst []byte) []byte {
	if s.dense != nil {
		return append(append(dst, formDense, precision), s.dense...)
	}
	dst = append(dst, formSparse, precision)
	for _, e := range s.entries {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(e.index()))
		dst = append(dst, e.rank())
	}
	return dst
}

// Decode returns the sketch that b encodes, which shares no memory with b. What
// is no encoding of a sketch is a fault.Type.
func Decode(b []byte) (*Sketch, error) {
	if len(b) < headLen || b[1] != precision {
		return nil, malformed()
	}
	switch b[0] {
	case formDense:
		return decodeDense(b[headLen:])
	case formSparse:
		return decodeSparse(b[headLen:])
	}
	return nil, malformed()
}

func decodeDense(b []byte) (*Sketch, error) {
	if len(b) != registers || slices.Max(b) > maxRank {
		return nil, malformed()
	}
	return &Sketch{dense: slices.Clone(b)}, nil
}

func decodeSparse(b []byte) (*Sketch, error) {
	n := len(b) / entryLen
	if len(b)%entryLen != 0 || n > maxSparse {
		return nil, malformed()
	}
	entries := make([]entry, n)
	for i := range entries {
		index, rank := binary.LittleEndian.Uint16(b[entryLen*i:]), b[entryLen*i+2]
		entries[i] = entry(index)<<8 | entry(rank)
		if index >= registers || rank < 1 || rank > maxRank || i > 0 && entries[i-1].index() >= int(index) {
			return nil, malformed()
		}
	}
	return &Sketch{entries: entries}, nil
}

func malformed() error {
	return fault.New(fault.Type, "want a sketch of hll_accumulate, got other bytes")
}

// Estimate returns about how many values have been counted: the improved
// estimator of Ertl 2017, arXiv:1702.01284, algorithm 6.
func (s *Sketch) Estimate() int64 {
	counts := s.histogram()
	const m = registers
	z := m * tau(1-counts[maxRank]/m)
	for k := maxRank - 1; k >= 1; k-- {
		z = (z + counts[k]) / 2
	}
	z += m * sigma(counts[0]/m)
	const alpha = 1 / (2 * math.Ln2)
	if n := math.Round(alpha * m * m / z); n < 1<<63 {
		return int64(n)
	}
	return math.MaxInt64 // the registers are full
}

// histogram returns how many registers hold each rank.
func (s *Sketch) histogram() (counts [maxRank + 1]float64) {
	for _, rank := range s.dense {
		counts[rank]++
	}
	for _, e := range s.entries {
		counts[e.rank()]++
	}
	if s.dense == nil {
		counts[0] = float64(registers - len(s.entries))
	}
	return counts
}

// sigma is the sum of x and x^(2^k) 2^(k-1) for all k from 1.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for last := -1.0; z != last; y *= 2 {
		x *= x
		last = z
		z += x * y
	}
	return z
}

// tau is a third of 1-x and minus all (1-x^(2^-k))^2 2^-k for k from 1.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for last := -1.0; z != last; {
		x = math.Sqrt(x)
		last = z
		y /= 2
		z -= (1 - x) * (1 - x) * y
	}
	return z / 3
}
