package hnsw

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// chunkNodes is how many consecutive nodes are stored together.
const chunkNodes = 16

// The layouts of chunks and headers that this package writes.
const (
	chunkVersion  = 1
	headerVersion = 1
)

// storedMarks are the bits of a state that are stored, all in its low byte.
const storedMarks = levelMask | used | dead | twin

// appendChunk appends the encoding of the nodes from first on, of which none but
// free ones are at count or beyond. Nothing changes meanwhile.
func (v *view) appendChunk(dst []byte, first, count uint32) []byte {
	width := bytesFor(count)
	dst = append(dst, chunkVersion, byte(width))
	for n := first; n < first+chunkNodes; n++ {
		state := atomic.LoadUint32(v.state(n)) & storedMarks
		dst = append(dst, byte(state))
		if state == 0 {
			continue
		}
		dst = binary.LittleEndian.AppendUint64(dst, v.id(n))
		for level := range int(state&levelMask) + 1 {
			dst = appendList(dst, v.neighbours(n, level), width)
			if state&twin != 0 {
				break
			}
		}
	}
	return dst
}

// chunkSize returns about how long chunks get.
func (v *view) chunkSize(width int) int { return chunkNodes * (16 + v.list*width) }

// bytesFor returns how many bytes hold each number below count.
func bytesFor(count uint32) int {
	width := 1
	for width < 4 && count > 1<<(8*width) {
		width++
	}
	return width
}

// appendList appends how many numbers a list has and those, little endian.
func appendList(dst []byte, list []uint32, width int) []byte {
	at := len(dst)
	dst = append(dst, 0, 0)
	count := 0
	for i := range list {
		n := atomic.LoadUint32(&list[i])
		if n == none {
			break
		}
		for range width {
			dst = append(dst, byte(n))
			n >>= 8
		}
		count++
	}
	binary.LittleEndian.PutUint16(dst[at:], uint16(count))
	return dst
}

// reader reads a chunk. Its methods return false at the first thing that cannot
// be; the rest is not read then.
type reader struct {
	rest  []byte
	width int
	mask  uint32
}

func (r *reader) begin(chunk []byte) bool {
	if len(chunk) < 2 || chunk[0] != chunkVersion || chunk[1] < 1 || chunk[1] > 4 {
		return false
	}
	r.width = int(chunk[1])
	r.mask = uint32(1<<(8*r.width) - 1)
	r.rest = chunk[2:]
	return true
}

// state reads a node's state, 0 for a free one.
func (r *reader) state() (state uint32, ok bool) {
	if len(r.rest) == 0 {
		return 0, false
	}
	state = uint32(r.rest[0])
	r.rest = r.rest[1:]
	return state, state == 0 || state&used != 0 && state&^storedMarks == 0
}

func (r *reader) id() (id uint64, ok bool) {
	if len(r.rest) < 8 {
		return 0, false
	}
	id = binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return id, true
}

// list reads node numbers into list, which they do not outnumber, and ends them.
func (r *reader) list(list []uint32) bool {
	if len(r.rest) < 2 {
		return false
	}
	count := int(binary.LittleEndian.Uint16(r.rest))
	size := 2 + count*r.width
	if count > len(list) || size > len(r.rest) {
		return false
	}
	numbers := r.rest[2:]
	r.rest = r.rest[size:]
	for i := range list[:count] {
		list[i] = r.number(numbers)
		numbers = numbers[r.width:]
	}
	fillNone(list[count:])
	return true
}

// number returns the number that b begins with.
func (r *reader) number(b []byte) uint32 {
	if len(b) >= 4 {
		return binary.LittleEndian.Uint32(b) & r.mask
	}
	n := uint32(0)
	for i := range r.width {
		n |= uint32(b[i]) << (8 * i)
	}
	return n
}

// appendCodes appends the encoding of what codes are made by, for vectors of dim
// components.
func appendCodes(dst []byte, codes vector.Quantizer, dim int) []byte {
	return codes.Append(binary.LittleEndian.AppendUint32(dst, uint32(dim)))
}

// parseCodes reads what codes are made by, in a graph with the given parameters.
func parseCodes(b []byte, p *Params) (vector.Quantizer, error) {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != uint32(p.Dim) {
		return nil, fmt.Errorf("%w: codes for another dimension", ErrCorrupt)
	}
	codes, err := vector.ParseQuantizer(b[4:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	ok := false
	switch codes.(type) {
	case *vector.Int8:
		ok = p.Storage == Int8
	case *vector.Bits:
		ok = p.Storage == Bits
	}
	if !ok {
		return nil, fmt.Errorf("%w: codes of another kind", ErrCorrupt)
	}
	return codes, nil
}

// header is what there is to know of a stored graph as a whole.
type header struct {
	params Params // Dim, Metric, M and Storage
	count  uint32 // nodes, free ones included
	places uint32 // lists above level 0, those of free nodes not included
	entry  entry
}

const headerSize = 2 + 1 + 4 + 4 + 4 + 4 + 8

func (h *header) append(dst []byte) []byte {
	dst = append(dst, headerVersion, byte(h.params.Metric), byte(h.params.Storage))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.params.Dim))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.params.M))
	dst = binary.LittleEndian.AppendUint32(dst, h.count)
	dst = binary.LittleEndian.AppendUint32(dst, h.places)
	return binary.LittleEndian.AppendUint64(dst, uint64(h.entry))
}

// parseHeader reads the header of a graph with the given parameters and chunks.
func parseHeader(b []byte, p *Params, chunks [][]byte) (h header, err error) {
	if len(b) != headerSize || b[0] != headerVersion {
		return h, fmt.Errorf("%w: header of %d bytes", ErrCorrupt, len(b))
	}
	if b[1] != byte(p.Metric) || b[2] != byte(p.Storage) ||
		binary.LittleEndian.Uint32(b[3:]) != uint32(p.Dim) || binary.LittleEndian.Uint32(b[7:]) != uint32(p.M) {
		return h, fmt.Errorf("%w: made with other parameters", ErrCorrupt)
	}
	h.params = *p
	h.count = binary.LittleEndian.Uint32(b[11:])
	h.places = binary.LittleEndian.Uint32(b[15:])
	h.entry = entry(binary.LittleEndian.Uint64(b[19:]))
	if h.count > maxNodes || (int(h.count)+chunkNodes-1)/chunkNodes != len(chunks) {
		return h, fmt.Errorf("%w: %d chunks of %d nodes", ErrCorrupt, len(chunks), h.count)
	}
	size := 0
	for _, chunk := range chunks {
		size += len(chunk)
	}
	if int(h.places) > size/2 {
		return h, fmt.Errorf("%w: %d lists in %d bytes", ErrCorrupt, h.places, size)
	}
	return h, nil
}
