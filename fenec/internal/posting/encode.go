package posting

import (
	"encoding/binary"
	"math"
)

// What a chunk holds at most. The bytes are those of blocks and table; with the
// rest and a key of some length two chunks fit a page of 4 KiB. A single block
// of far-apart ids may be larger.
const (
	maxBlock      = 128
	maxBlocks     = 16
	maxChunk      = maxBlock * maxBlocks
	maxChunkBytes = 1900
)

const version = 1

const (
	flagWeights = 1 << iota
	flagHead
	flagWide
	flagsKnown = flagWide<<1 - 1
)

// headerSize is where the uvarints of a chunk begin.
const headerSize = 5

// head is what the first chunk of a term says of all of them.
type head struct {
	df    uint64
	bound bound
}

// encoder makes one chunk, block by block.
type encoder struct {
	kind   Kind
	seed   uint32 // of the term
	arrays []byte
	blocks []encoded
	first  uint64 // id of the chunk
}

// encoded is an entry of the table, but for its start.
type encoded struct {
	size                        int // of the arrays, bytes
	last                        uint64
	count                       int
	idWidth, tfWidth, lengthWid uint
	bound                       bound
}

func (e *encoder) reset() { e.arrays, e.blocks = e.arrays[:0], e.blocks[:0] }

// add appends a block of up to maxBlock postings, unless the chunk would become
// too large.
func (e *encoder) add(ps []Posting) bool {
	if len(e.blocks) == maxBlocks {
		return false
	}
	from := ps[0].ID
	if n := len(e.blocks); n > 0 {
		from = e.blocks[n-1].last + 1
	} else {
		e.first = from
	}
	size := len(e.arrays)
	b := e.appendArrays(ps, from)
	b.size = len(e.arrays) - size
	e.blocks = append(e.blocks, b)
	n := len(e.blocks)
	if n > 1 && len(e.arrays)+n*entrySize(e.kind, e.wide()) > maxChunkBytes {
		e.arrays, e.blocks = e.arrays[:size], e.blocks[:n-1]
		return false
	}
	return true
}

// wide reports whether the distance of some id from the first takes 8 bytes.
func (e *encoder) wide() bool {
	return e.blocks[len(e.blocks)-1].last-e.first > math.MaxUint32
}

func (e *encoder) appendArrays(ps []Posting, from uint64) encoded {
	n := len(ps)
	b := encoded{last: ps[n-1].ID, count: n, idWidth: widthOf(ps[n-1].ID - from)}
	for i := range ps {
		b.bound.add(e.kind, &ps[i])
	}
	e.arrays = appendPacked(e.arrays, n, b.idWidth, func(i int) uint64 { return ps[i].ID - from })
	if e.kind == Weights {
		for i := range ps {
			e.arrays = binary.LittleEndian.AppendUint32(e.arrays, math.Float32bits(ps[i].Weight))
		}
		return b
	}
	var tf, length uint32
	for i := range ps {
		tf, length = max(tf, ps[i].TF-1), max(length, ps[i].Length)
	}
	b.tfWidth, b.lengthWid = widthOf(uint64(tf)), widthOf(uint64(length))
	e.arrays = appendPacked(e.arrays, n, b.tfWidth, func(i int) uint64 { return uint64(ps[i].TF - 1) })
	e.arrays = appendPacked(e.arrays, n, b.lengthWid, func(i int) uint64 { return uint64(ps[i].Length) })
	e.arrays = b.bound.append(e.arrays, e.kind)
	return b
}

// finish returns the chunk's bytes. h is nil unless it is the head.
func (e *encoder) finish(h *head) []byte {
	wide := e.wide()
	dst := make([]byte, headerSize, 80+sumSize+len(e.arrays)+len(e.blocks)*entrySize(e.kind, wide))
	dst[0], dst[1], dst[2] = version, e.flags(h != nil, wide), byte(len(e.blocks))
	dst = binary.AppendUvarint(dst, e.first)
	if h != nil {
		dst = binary.AppendUvarint(dst, h.df)
		dst = h.bound.append(dst, e.kind)
	}
	start := len(dst)
	dst = append(dst, e.arrays...)
	binary.LittleEndian.PutUint16(dst[3:], uint16(len(dst)))
	for i := range e.blocks {
		dst = e.appendEntry(dst, &e.blocks[i], start, wide)
		start += e.blocks[i].size
	}
	return appendSum(dst, e.seed)
}

func (e *encoder) flags(isHead, wide bool) byte {
	var flags byte
	if e.kind == Weights {
		flags |= flagWeights
	}
	if isHead {
		flags |= flagHead
	}
	if wide {
		flags |= flagWide
	}
	return flags
}

func (e *encoder) appendEntry(dst []byte, b *encoded, start int, wide bool) []byte {
	if wide {
		dst = binary.LittleEndian.AppendUint64(dst, b.last-e.first)
	} else {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(b.last-e.first))
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(start))
	dst = append(dst, byte(b.count-1), byte(b.idWidth))
	if e.kind == Weights {
		return b.bound.append(dst, e.kind)
	}
	return append(dst, byte(b.tfWidth), byte(b.lengthWid))
}

// entrySize returns the bytes of an entry of the table.
func entrySize(kind Kind, wide bool) int {
	size := 4 + 2 + 1 + 1
	if wide {
		size += 4
	}
	if kind == Weights {
		return size + 8
	}
	return size + 2
}
