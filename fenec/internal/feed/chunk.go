package feed

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

const (
	// chunkBytes is how long a chunk becomes, in bytes, unless one operation or its
	// definitions are longer: two of them with their keys fill sixteen pages of the
	// base.
	chunkBytes = 32_700

	// leastChunk is how long it becomes at least, whatever the feed's bound.
	leastChunk = 256

	// maxDefinitions is how much of a chunk's definitions lets it become longer, so
	// that they are not most of the feed.
	maxDefinitions = 128 << 10
)

// The tags of a definition and of a group.
const (
	tagDefinition = 1 << iota
	tagGoesOn
	tagNextSeq
	tagSameAt
	tagSameTarget
	tagOne
)

// maxGroup is the length of what stands before a group's operations, in bytes.
const maxGroup = 1 + 5*binary.MaxVarintLen64

// chunk is groups in order, encoded. What is in data does not change before the
// chunk is dropped, so a fold reads it without a lock while others are added to it.
type chunk struct {
	first, last uint64
	at          int64 // of the last group
	target      int   // the definition of the last group, -1 before the first
	defs        []definition
	defBytes    int
	data        []byte
	stored      int64 // bytes that it takes up in the base by now, with its key
}

// definition is one that the chunk has.
type definition struct {
	col *catalog.Collection
	raw []byte
}

// newChunk returns an empty chunk, whose data goes where data is.
func newChunk(first uint64, data []byte) chunk {
	return chunk{first: first, last: first - 1, target: -1, data: data[:0]}
}

// limit returns the length up to which c takes more, if size is what chunks have.
func (c *chunk) limit(size int) int { return max(size, min(2*c.defBytes, 2*maxDefinitions)) }

// add appends a group, whose numbers are past the last one.
func (c *chunk) add(g group) {
	target := c.define(g.col)
	tag, at := byte(0), len(c.data)
	c.data = append(c.data, 0)
	if gap := g.first - c.last - 1; gap == 0 {
		tag |= tagNextSeq
	} else {
		c.data = binary.AppendUvarint(c.data, gap)
	}
	if begun := g.first - g.block; begun > 0 {
		tag |= tagGoesOn
		c.data = binary.AppendUvarint(c.data, begun)
	}
	if g.at == c.at {
		tag |= tagSameAt
	} else {
		c.data = binary.AppendVarint(c.data, g.at-c.at)
	}
	if target == c.target {
		tag |= tagSameTarget
	} else {
		c.data = binary.AppendUvarint(c.data, uint64(target))
	}
	if g.count == 1 {
		tag |= tagOne
	} else {
		c.data = binary.AppendUvarint(c.data, g.count)
	}
	c.data[at] = tag
	c.data = append(c.data, g.ops...)
	c.last, c.at, c.target = g.first+g.count-1, g.at, target
}

// define returns the place of a definition among the chunk's, to which it is added
// if it is not there.
func (c *chunk) define(col *catalog.Collection) int {
	for i := len(c.defs) - 1; i >= 0; i-- {
		if c.defs[i].col == col {
			return i
		}
	}
	raw := col.Append(nil)
	for i := range c.defs {
		if bytes.Equal(c.defs[i].raw, raw) {
			c.defs[i].col = col
			return i
		}
	}
	c.data = binary.AppendUvarint(append(c.data, tagDefinition), uint64(len(raw)))
	c.data = append(c.data, raw...)
	c.defBytes += len(raw)
	c.defs = append(c.defs, definition{col, raw})
	return len(c.defs) - 1
}

// openChunk returns what is stored as the value of a chunk, without its checksum.
func openChunk(first uint64, value []byte) ([]byte, error) {
	data, err := row.Open(value)
	if err != nil || len(data) == 0 {
		return nil, fmt.Errorf("%w: the checksum of the chunk of %d", ErrCorrupt, first)
	}
	return data, nil
}

// reopenChunk returns a stored chunk to be added to.
func reopenChunk(first uint64, value []byte) (chunk, error) {
	data, err := openChunk(first, value)
	if err != nil {
		return chunk{}, err
	}
	w := newWalk(first, bytes.Clone(data))
	c := chunk{first: first, data: w.rest, stored: int64(keyBytes + len(value))}
	for w.next() {
		c.last, c.at, c.target = w.entry.Seq, w.entry.At, w.target
	}
	c.defs = w.defs
	for _, d := range c.defs {
		c.defBytes += len(d.raw)
	}
	return c, w.err
}
