package history

import (
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// chunkBytes is how long a chunk becomes, in bytes: two of them with their keys
// fill two pages of the base.
const chunkBytes = 3900

// extendBytes is the length, in bytes with its checksum, up to which the last
// chunk is taken up again by a fold.
const extendBytes = chunkBytes / 2

// An entry's tag.
const (
	tagOp         = 7
	tagInternal   = 1 << 3
	tagNextSeq    = 1 << 4
	tagSameAt     = 1 << 5
	tagSameTarget = 1 << 6
	tagNextID     = 1 << 7
)

// chunk is entries being encoded, or those decoded so far.
type chunk struct {
	first uint64
	data  []byte
	last  Entry // the zero Entry at the beginning, of number first-1
}

func newChunk(first uint64, data []byte) chunk {
	return chunk{first: first, data: data, last: Entry{Seq: first - 1}}
}

// add appends the entry, whose number is past the last one.
func (c *chunk) add(e Entry) {
	l := &c.last
	tag, at := byte(e.Op), len(c.data)
	c.data = append(c.data, 0)
	if e.Internal {
		tag |= tagInternal
	}
	if gap := e.Seq - l.Seq - 1; gap == 0 {
		tag |= tagNextSeq
	} else {
		c.data = binary.AppendUvarint(c.data, gap)
	}
	if e.At == l.At {
		tag |= tagSameAt
	} else {
		c.data = binary.AppendVarint(c.data, e.At-l.At)
	}
	if e.Collection == l.Collection {
		tag |= tagSameTarget
	} else {
		c.data = binary.AppendUvarint(c.data, uint64(e.Collection))
	}
	if e.ID == l.ID+1 {
		tag |= tagNextID
	} else {
		c.data = binary.AppendVarint(c.data, int64(e.ID-l.ID-1))
	}
	c.data[at] = tag
	c.last = e
}

// next decodes the following entry of data, of which it takes its bytes away.
func (c *chunk) next() (Entry, error) {
	d := decoder{rest: c.data}
	e := c.last
	tag := d.byte()
	e.Seq++
	e.ID++
	e.Op, e.Internal = Op(tag&tagOp), tag&tagInternal != 0
	if tag&tagNextSeq == 0 {
		e.Seq += d.uvarint()
	}
	if tag&tagSameAt == 0 {
		e.At += d.varint()
	}
	if tag&tagSameTarget == 0 {
		e.Collection = uint32(d.uvarint())
	}
	if tag&tagNextID == 0 {
		e.ID += uint64(d.varint())
	}
	switch {
	case d.bad:
		return Entry{}, fmt.Errorf("%w: an entry of the chunk of %d", ErrCorrupt, c.first)
	case e.Op > Drop || e.Seq <= c.last.Seq || e.Seq < c.first:
		return Entry{}, fmt.Errorf("%w: operation %d at %d after %d", ErrCorrupt, e.Op, e.Seq, c.last.Seq)
	}
	c.data, c.last = d.rest, e
	return e, nil
}

// openChunk returns the chunk stored as value under its first number.
func openChunk(first uint64, value []byte) (chunk, error) {
	data, err := row.Open(value)
	if err != nil || len(data) == 0 {
		return chunk{}, fmt.Errorf("%w: the checksum of the chunk of %d", ErrCorrupt, first)
	}
	return newChunk(first, data), nil
}

// decoder reads numbers; after what it cannot read all it returns is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.rest, d.bad = nil, true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.rest, d.bad = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.rest, d.bad = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}
