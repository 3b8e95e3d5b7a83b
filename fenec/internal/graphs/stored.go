package graphs

import (
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
)

// header is what the stored header of a graph says beside the index's parameters.
type header struct {
	count uint32 // nodes, free ones included
	lists uint32 // above level 0
	entry uint64 // a node, and above it its level; all ones for none
}

// parseHeader reads the stored header of a graph with these parameters.
func parseHeader(b []byte, p hnsw.Params) (*header, error) {
	want := []byte{1, byte(p.Metric), byte(p.Storage)}
	want = binary.LittleEndian.AppendUint32(want, uint32(p.Dim))
	want = binary.LittleEndian.AppendUint32(want, uint32(p.M))
	n := len(want)
	if len(b) != n+16 || string(b[:n]) != string(want) {
		return nil, fmt.Errorf("a header of %d bytes for another graph", len(b))
	}
	return &header{
		count: binary.LittleEndian.Uint32(b[n:]),
		lists: binary.LittleEndian.Uint32(b[n+4:]),
		entry: binary.LittleEndian.Uint64(b[n+8:]),
	}, nil
}

// The marks of a stored node's state; package hnsw says how nodes are stored.
const (
	levelMask = 0xf
	used      = 1 << 4
	dead      = 1 << 5
	twin      = 1 << 7
)

// chunkNodes is how many nodes a chunk has.
const chunkNodes = 16

// node is a stored node.
type node struct {
	state byte // 0 if it is free
	id    uint64
	lists [][]uint32 // of neighbours, by level; of a twin its head's number, in one list
}

// level returns the highest level the node is on.
func (n *node) level() int { return int(n.state & levelMask) }

// nodes reads the nodes of a chunk, one after the other.
type nodes struct {
	rest  []byte
	width int // bytes of a number
	node
}

// begin begins with a chunk, and reports whether it can be one.
func (r *nodes) begin(chunk []byte) bool {
	if len(chunk) < 2 || chunk[0] != 1 || chunk[1] < 1 || chunk[1] > 4 {
		return false
	}
	r.rest, r.width = chunk[2:], int(chunk[1])
	return true
}

// next reads the next node into r.node, and reports whether it can be one.
func (r *nodes) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	r.state, r.rest, r.lists = r.rest[0], r.rest[1:], r.lists[:0]
	if r.state == 0 {
		return true
	}
	if r.state&used == 0 || r.state&^(levelMask|used|dead|twin) != 0 || len(r.rest) < 8 {
		return false
	}
	r.id, r.rest = binary.LittleEndian.Uint64(r.rest), r.rest[8:]
	count := 1
	if r.state&twin == 0 {
		count += r.level()
	}
	for range count {
		if !r.list() {
			return false
		}
	}
	return true
}

// list reads a list, in the memory of an earlier one if there is any.
func (r *nodes) list() bool {
	if len(r.rest) < 2 {
		return false
	}
	count := int(binary.LittleEndian.Uint16(r.rest))
	numbers := r.rest[2:]
	if count*r.width > len(numbers) {
		return false
	}
	var list []uint32
	if n := len(r.lists); n < cap(r.lists) {
		list = r.lists[:n+1][n][:0]
	}
	for range count {
		list = append(list, littleEndian(numbers[:r.width]))
		numbers = numbers[r.width:]
	}
	r.rest, r.lists = numbers, append(r.lists, list)
	return true
}

func littleEndian(b []byte) (n uint32) {
	for i, c := range b {
		n |= uint32(c) << (8 * i)
	}
	return n
}
