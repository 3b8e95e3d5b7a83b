package posting

import (
	"encoding/binary"
	"math"
)

// chunk is a stored chunk, read where it lies. Opening it checks its checksum, and
// its table, so that no block reaches out of it.
type chunk struct {
	data    []byte // without the checksum
	kind    Kind
	first   uint64 // id
	last    uint64 // id
	blocks  int
	table   int // offset of the table
	entry   int // bytes of an entry
	lastLen int // bytes of a last id in the table: 4 or 8
	start   int // offset of the first block's arrays
}

// open reads the header of a chunk found under key, which is the prefix of the
// term if h is not nil; h is then filled in. seed is that of the prefix.
func (c *chunk) open(kind Kind, seed uint32, key, stored []byte, h *head) error {
	data, ok := cutSum(stored, seed)
	if !ok {
		return corrupt(key, "a chunk of %d bytes with a wrong checksum", len(stored))
	}
	if len(data) < headerSize || data[0] != version {
		return corrupt(key, "no chunk of version %d", version)
	}
	flags := data[1]
	if flags&^flagsKnown != 0 || flags&flagHead != 0 != (h != nil) || flags&flagWeights != 0 != (kind == Weights) {
		return corrupt(key, "flags %#x", flags)
	}
	wide := flags&flagWide != 0
	c.data, c.kind, c.blocks = data, kind, int(data[2])
	c.table, c.entry, c.lastLen = int(binary.LittleEndian.Uint16(data[3:])), entrySize(kind, wide), 4
	if wide {
		c.lastLen = 8
	}
	if c.blocks == 0 || c.blocks > maxBlocks || c.table < headerSize || c.table+c.blocks*c.entry != len(data) {
		return corrupt(key, "%d blocks and a table at %d in %d bytes", c.blocks, c.table, len(data))
	}
	if err := c.openHeader(key, h); err != nil {
		return err
	}
	return c.openTable(key)
}

func (c *chunk) openHeader(key []byte, h *head) error {
	first, n := binary.Uvarint(c.data[headerSize:c.table])
	if n <= 0 || first > MaxID {
		return corrupt(key, "no first id")
	}
	c.first, c.start = first, headerSize+n
	if h == nil {
		return nil
	}
	df, n := binary.Uvarint(c.data[c.start:c.table])
	if n <= 0 || df == 0 || df > MaxID {
		return corrupt(key, "no number of postings")
	}
	h.df = df
	c.start += n
	size := h.bound.parse(c.data[c.start:c.table], c.kind)
	if size == 0 {
		return corrupt(key, "no bound")
	}
	c.start += size
	return nil
}

func (c *chunk) openTable(key []byte) error {
	at, before := c.start, uint64(0)
	for i := range c.blocks {
		last, start := c.lastOffset(i), c.startOf(i)
		if start < at || start > c.table || i > 0 && last <= before || last > MaxID-c.first {
			return corrupt(key, "entry %d of the table", i)
		}
		at, before = start, last
	}
	c.last = c.first + before
	return nil
}

// lastOffset returns the last id of block i less the chunk's first.
func (c *chunk) lastOffset(i int) uint64 {
	e := c.data[c.table+i*c.entry:]
	if c.lastLen == 4 {
		return uint64(binary.LittleEndian.Uint32(e))
	}
	return binary.LittleEndian.Uint64(e)
}

func (c *chunk) startOf(i int) int {
	return int(binary.LittleEndian.Uint16(c.data[c.table+i*c.entry+c.lastLen:]))
}

// extent returns between which ids the postings of block i are, both included.
func (c *chunk) extent(i int) (from, last uint64) {
	if from = c.first; i > 0 {
		from += c.lastOffset(i-1) + 1
	}
	return from, c.first + c.lastOffset(i)
}

// find returns the first block from i on whose last id is at or after id, which
// is not after the chunk's.
func (c *chunk) find(i int, id uint64) int {
	if id <= c.first {
		return i
	}
	for offset := id - c.first; i < c.blocks-1 && c.lastOffset(i) < offset; i++ {
	}
	return i
}

// block is a block of a chunk, read where it lies.
type block struct {
	n       int    // postings
	from    uint64 // what the ids are counted from
	last    uint64 // id
	ids     packed
	tf      packed // of a text, less 1
	lengths packed // of a text
	weights []byte // of weights
	bound   int    // offset of the bound in the chunk
}

// open reads block i of c.
func (b *block) open(c *chunk, i int) bool {
	if !b.layout(c, i) {
		return false
	}
	b.from, b.last = c.extent(i)
	return b.id(b.n-1) == b.last
}

// layout finds the arrays of block i of c, and whether they are within it.
func (b *block) layout(c *chunk, i int) bool {
	e := c.data[c.table+i*c.entry+c.lastLen:]
	at := int(binary.LittleEndian.Uint16(e))
	b.n = int(e[2]) + 1
	idWidth := uint(e[3])
	b.ids = newPacked(c.data[at:], idWidth)
	at += packedSize(b.n, idWidth)
	if b.n > maxBlock || !soundWidth(idWidth) || at > c.table {
		return false
	}
	if c.kind == Weights {
		b.weights = c.data[at:]
		b.bound = c.table + i*c.entry + c.lastLen + 4
		return at+4*b.n <= c.table
	}
	tfWidth, lengthWidth := uint(e[4]), uint(e[5])
	lengthsAt := at + packedSize(b.n, tfWidth)
	b.bound = lengthsAt + packedSize(b.n, lengthWidth)
	if max(tfWidth, lengthWidth) > 32 || b.bound > c.table {
		return false
	}
	b.tf, b.lengths = newPacked(c.data[at:], tfWidth), newPacked(c.data[lengthsAt:], lengthWidth)
	return true
}

// id returns the id of posting i.
func (b *block) id(i int) uint64 { return b.from + b.ids.at(i) }

// read reads the ids of postings from i on.
func (b *block) read(ids []uint64, i int) {
	from, offsets := b.from, b.ids // copies, to be kept in registers
	for j := range ids {
		ids[j] = from + offsets.at(i+j)
	}
}

// weight returns the weight of posting i.
func (b *block) weight(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b.weights[4*i:]))
}

// posting returns posting i.
func (b *block) posting(kind Kind, i int) Posting {
	if kind == Weights {
		return Posting{ID: b.id(i), Weight: b.weight(i)}
	}
	return Posting{ID: b.id(i), TF: uint32(b.tf.at(i) + 1), Length: uint32(b.lengths.at(i))}
}

// seek returns the first posting from i on whose id is at or after id, or n.
// Near ones are found soonest.
func (b *block) seek(i int, id uint64) int {
	if id <= b.from {
		return i
	}
	offset := id - b.from
	step := 1
	for i+step < b.n && b.ids.at(i+step-1) < offset {
		i += step
		step *= 2
	}
	low, high := i, min(i+step, b.n)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if b.ids.at(middle) < offset {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// parseBound reads the bound of the block, which is of chunk c.
func (b *block) parseBound(c *chunk, into *bound) bool {
	data := c.data[b.bound:]
	if c.kind == Text {
		data = c.data[b.bound:c.table]
	}
	*into = bound{}
	return into.parse(data, c.kind) > 0
}
