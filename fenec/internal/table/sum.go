package table

import (
	"context"
	"encoding/binary"
)

// The sum of a collection is that of the hashes of its rows, mod 2^64. It does not
// depend on the order in which they came, and what goes is subtracted, so that each
// write keeps it. That takes nanoseconds: of a row its checksum is hashed, which is
// there already.

// rowHash returns what a row adds to the sum of its collection. It is part of
// stored files.
func rowHash(id uint64, checksum uint32, size int) uint64 {
	return mix(mix(id) ^ (uint64(checksum)<<32 | uint64(uint32(size))))
}

// mix is a bijection of which each bit of the argument changes each bit of the
// result half the time: SplitMix64 of Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", 2014.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// checksumBytes is the length of the checksum that ends a sealed row.
const checksumBytes = 4

// stored is a row with the checksum that follows it where it lies. Without row it
// is no row.
type stored struct {
	row      []byte
	checksum uint32
}

// storedRow returns the row b, which is sealed in those bytes.
func storedRow(b, sealed []byte) stored {
	return stored{b, binary.LittleEndian.Uint32(sealed[len(sealed)-checksumBytes:])}
}

// hash returns what s adds to the sum as the row with that id; 0 for no row.
func (s stored) hash(id uint64) uint64 {
	if s.row == nil {
		return 0
	}
	return rowHash(id, s.checksum, len(s.row))
}

// resumRows is the most rows that a write sums up to know a sum, which takes 0.2 ms, or
// longer where rows are long or not in memory.
const resumRows = 5000

// resum makes the sum in f, the collection's figures, known if it is not and the
// rows are few.
func (w *Writer) resum(f *Figures) error {
	if !f.Unsummed || f.Rows > resumRows {
		return nil
	}
	var sum uint64
	err := w.Spans(context.Background(), 0, func(s Span) { sum += s.Sum })
	if err == nil {
		f.Sum, f.Unsummed = sum, false
	}
	return err
}

// stored returns the row with that id.
func (w *Writer) stored(id uint64) (stored, error) {
	f, err := w.tx.figures(w.col.Number)
	if err != nil {
		return stored{}, err
	}
	if err := w.resum(f); err != nil {
		return stored{}, err
	}
	if id > f.Highest {
		return stored{}, nil
	}
	sealed, err := w.view.Get(w.col.RowSpace, w.idKey(id))
	if sealed == nil || err != nil {
		return stored{}, err
	}
	b, err := openRow(w.col, id, sealed)
	if err != nil {
		return stored{}, err
	}
	return storedRow(b, sealed), nil
}

// Span sums up rows of a collection that follow each other by id.
type Span struct {
	First, Last uint64 // ids of the first row and of the last
	Rows        int64
	Sum         uint64 // what they add to Figures.Sum
}

// Spans calls visit with the spans of all rows, in order of their ids: of most rows
// each but the last, which may have fewer. If most is 0 all rows are one span.
// Every row is held against its checksum.
func (r *Reader) Spans(ctx context.Context, most int, visit func(Span)) error {
	s := r.Scan(0, ^uint64(0), false)
	var span Span
	for n := 1; s.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if span.Rows == 0 {
			span.First = s.ID()
		}
		span.Last = s.ID()
		span.Rows++
		span.Sum += s.hash()
		if span.Rows == int64(most) {
			visit(span)
			span = Span{}
		}
	}
	if s.Err() == nil && span.Rows > 0 {
		visit(span)
	}
	return s.Err()
}

// hash returns what the row the scan stands at adds to the sum.
func (s *Scan) hash() uint64 { return storedRow(s.row, s.it.Value()).hash(s.id) }
