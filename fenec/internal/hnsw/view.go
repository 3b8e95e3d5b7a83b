package hnsw

import (
	"math"
	"sync/atomic"
)

// none is the end of a list of node numbers, and the number of no node.
const none = math.MaxUint32

// maxNodes is how many nodes a near has room for.
const maxNodes = 1 << 30

// segmentBytes is about how many bytes of vectors a segment holds: enough for
// the table of segments to stay small, little enough for small graphs.
const segmentBytes = 256 << 10

// State of a node: its level in the low bits, and marks. A free node's is 0.
const (
	levelMask uint32 = 0xf
	maxLevel         = int(levelMask)

	used      uint32 = 1 << 4 // the node is not free
	dead      uint32 = 1 << 5 // its id has been deleted
	condemned uint32 = 1 << 6 // it is dead and about to be freed: nothing may refer to it anew
	twin      uint32 = 1 << 7 // it is in a chain and not in the graph
	linked    uint32 = 1 << 8 // it is in the graph and has got its neighbours
	whole     uint32 = 1 << 9 // its vector is kept as it was given, unless there are codes
)

// view is where everything lies, as of some moment. Segments are added and never
// move, so a view stays good for the nodes it was made for.
type view struct {
	shape
	rows  rows
	links [][]uint32 // on level 0: shape.list words a node, ended by none if shorter
	nodes []*nodes
	// upper holds the links on higher levels in places of M words and one more: the
	// place of the same node on the next higher level, or none.
	upper [][]uint32
}

// shape is what view needs of the parameters.
type shape struct {
	shift uint   // a segment has 1<<shift nodes
	mask  uint32 // 1<<shift - 1
	dim   int
	list  int // words of a list on level 0
	place int // words of a place in upper
}

// nodes is what else there is to know of the nodes of a segment. All but the ids
// are read and written atomically.
type nodes struct {
	ids    []uint64 // written before the node's number is known to anybody
	states []uint32
	above  []uint32 // place of the links on level 1, or none
	next   []uint32 // in a chain of twins; a node of the graph begins its own
	dirty  []uint32 // a word a chunk: not 0 if it changed since it was last stored
}

func newShape(p *Params) shape {
	s := shape{dim: p.Dim, list: p.width(0), place: p.M + 1, shift: 5}
	for s.shift < 12 && p.Dim*4<<(s.shift+1) <= segmentBytes {
		s.shift++
	}
	s.mask = 1<<s.shift - 1
	return s
}

// size returns how many nodes the view has room for.
func (v *view) size() int { return len(v.nodes) << v.shift }

// places returns how many places the view has room for.
func (v *view) places() int { return len(v.upper) << v.shift }

// grown returns v with further segments of nodes, and how many bytes they
// take. What words returns is what their lists hold at first. The tables' tails
// are only ever written here and in raised, under the lock of the allocator.
func (v *view) grown(segments int, words func(count int) []uint32) (*view, int64) {
	size := 1 << v.shift
	w := *v
	for range segments {
		w.nodes = append(w.nodes, &nodes{
			ids:    make([]uint64, size),
			states: make([]uint32, size),
			above:  noneWords(size),
			next:   noneWords(size),
			dirty:  make([]uint32, size/chunkNodes),
		})
	}
	w.links = cut(w.links, words(segments*size*v.list), size*v.list)
	held := w.rows.grow(segments, size)
	return &w, held + int64(segments*(size*(8+4*(3+v.list))+4*size/chunkNodes))
}

// raised returns v with further segments of places, and how many bytes they
// take.
func (v *view) raised(segments int, words func(count int) []uint32) (*view, int64) {
	w := *v
	size := v.place << v.shift
	w.upper = cut(w.upper, words(segments*size), size)
	return &w, int64(4 * segments * size)
}

func (v *view) id(n uint32) uint64 { return v.nodes[n>>v.shift].ids[n&v.mask] }

func (v *view) state(n uint32) *uint32 { return &v.nodes[n>>v.shift].states[n&v.mask] }

func (v *view) above(n uint32) *uint32 { return &v.nodes[n>>v.shift].above[n&v.mask] }

// next returns the word that refers to the twin after n.
func (v *view) next(n uint32) *uint32 { return &v.nodes[n>>v.shift].next[n&v.mask] }

// neighbours returns the list of n on a level, which is empty if n is not there.
// Its words are read and written atomically, the latter under the lock of n.
func (v *view) neighbours(n uint32, level int) []uint32 {
	if level > 0 {
		return v.neighboursAbove(n, level)
	}
	at := int(n&v.mask) * v.list
	return v.links[n>>v.shift][at : at+v.list]
}

func (v *view) neighboursAbove(n uint32, level int) []uint32 {
	place := atomic.LoadUint32(v.above(n))
	for int(place) < v.places() { // none is beyond them, as may be places newer than v
		words := v.placeWords(place)
		if level == 1 {
			return words[:len(words)-1]
		}
		place = atomic.LoadUint32(&words[len(words)-1])
		level--
	}
	return nil
}

func (v *view) placeWords(place uint32) []uint32 {
	at := int(place&v.mask) * v.place
	return v.upper[place>>v.shift][at : at+v.place]
}

// higher returns the word of a place that refers to the next one.
func (v *view) higher(place uint32) *uint32 {
	words := v.placeWords(place)
	return &words[len(words)-1]
}

// dirty returns the word that is not 0 if the chunk of n has to be stored again.
func (v *view) dirty(n uint32) *uint32 { return &v.nodes[n>>v.shift].dirty[n&v.mask/chunkNodes] }

// mark notes that the chunk of n has to be stored again.
func (v *view) mark(n uint32) {
	if word := v.dirty(n); atomic.LoadUint32(word) == 0 {
		atomic.StoreUint32(word, 1)
	}
}

// read appends to nodes what a list holds of the nodes that v has room for.
func (v *view) read(list, nodes []uint32) []uint32 {
	size := uint32(v.size())
	for i := range list {
		n := atomic.LoadUint32(&list[i])
		if n < size {
			nodes = append(nodes, n)
		} else if n == none {
			break
		}
	}
	return nodes
}

// write makes nodes the contents of a list. A search that reads it meanwhile
// sees some of the old and some of the new.
func write(list, nodes []uint32) {
	for i, n := range nodes {
		atomic.StoreUint32(&list[i], n)
	}
	for i := len(nodes); i < len(list) && atomic.LoadUint32(&list[i]) != none; i++ {
		atomic.StoreUint32(&list[i], none)
	}
}
