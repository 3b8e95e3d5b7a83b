package hnsw

import (
	"math"
	"sync"
	"sync/atomic"
)

// stripes is how many locks the nodes share.
const stripes = 512

// maxGrowth bounds by how many nodes a graph grows at once.
const maxGrowth = 1 << 14

// Graph finds the nearest of many vectors. Its methods may be called from many
// goroutines at once, except where they say otherwise.
//
// Locks are taken in this order: repairing, cut, top, a shard of ids, alloc, one
// stripe, scratches. Searches take only the last.
type Graph struct {
	params Params
	view   atomic.Pointer[view]
	entry  atomic.Uint64 // an entry
	zeros  uint32        // atomic: first of the chain of zero vectors under Cosine, or none

	live, gone atomic.Int64 // nodes that have an id; nodes that are dead
	twins      atomic.Int64 // nodes in chains
	longest    greatest     // length of a vector, under Dot

	repairing    sync.Mutex   // held by the one Repair there is
	cut          sync.RWMutex // held for reading by each change, for writing by Changes
	codesChanged bool         // guarded by cut: the codes have not been stored since they were learnt
	top          sync.Mutex   // guards changes of entry
	zerosMu      sync.Mutex   // guards changes of the chain of zeros
	ids          idTable
	alloc        allocator
	locks        [stripes]sync.Mutex // of the lists of nodes, by stripe
	scratches    scratchPool
}

// entry is where searches begin: the level of a node above the node, or noEntry.
type entry uint64

const noEntry = math.MaxUint64

func entryAt(n uint32, level int) entry { return entry(level)<<32 | entry(n) }

func (e entry) node() uint32 { return uint32(e) }

func (e entry) level() int { return int(e >> 32) }

// New returns an empty graph, or an error if the parameters cannot be.
func New(p Params) (*Graph, error) {
	p, err := p.complete()
	if err != nil {
		return nil, err
	}
	g := &Graph{params: p}
	shape := newShape(&p)
	g.view.Store(&view{shape: shape, rows: rows{shape: shape, metric: p.Metric, half: p.Storage == Float16}})
	g.entry.Store(noEntry)
	g.zeros = none
	g.alloc.place = none
	return g, nil
}

// Params returns the parameters with their defaults filled in.
func (g *Graph) Params() Params { return g.params }

// Len returns how many ids the graph has.
func (g *Graph) Len() int { return int(g.live.Load()) }

// Dead returns how many deleted nodes wait for Repair.
func (g *Graph) Dead() int { return int(g.gone.Load()) }

// Contains reports whether the graph has an id.
func (g *Graph) Contains(id uint64) bool { return g.lookup(id) != none }

// Bytes returns how much memory the graph holds.
func (g *Graph) Bytes() int64 {
	g.alloc.mu.Lock()
	held := g.alloc.held + 4*int64(cap(g.alloc.free))
	g.alloc.mu.Unlock()
	return held + g.ids.bytes() + g.scratches.bytes()
}

// stripe returns the lock of n's lists and of the chain that n begins.
func (g *Graph) stripe(n uint32) *sync.Mutex { return &g.locks[n%stripes] }

// levelOf returns on how many levels above the lowest an id's node is. It depends
// on the id and the seed alone, so that the order in which goroutines insert
// does not matter. A level has 1/M of the nodes of the one below it.
func (g *Graph) levelOf(id uint64) int {
	x := mix(mix(id) + g.params.Seed + 0x9e3779b97f4a7c15)
	uniform := (float64(x>>11) + 1) / (1 << 53) // in (0, 1]
	return min(maxLevel, int(-math.Log(uniform)/math.Log(float64(g.params.M))))
}

// allocator hands out nodes and places of links.
type allocator struct {
	mu    sync.Mutex // guards the fields below, and replacing the graph's view
	count uint32     // nodes ever handed out
	free  []uint32   // nodes to hand out first

	places uint32 // places ever handed out
	place  uint32 // first of the free places, each of which refers to the next; or none

	held int64 // bytes of all segments
}

// allocate returns a node for id, with places for its links up to level, and
// none if there is no room.
func (g *Graph) allocate(id uint64, level int) uint32 {
	a := &g.alloc
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.count
	if last := len(a.free) - 1; last >= 0 {
		n = a.free[last]
		a.free = a.free[:last]
	} else if n == maxNodes {
		return none
	} else {
		a.count++
		g.growLocked(int(a.count), 0, noneWords)
	}
	place := uint32(none)
	for range level {
		place = g.placeLocked(place)
	}
	v := g.view.Load()
	v.nodes[n>>v.shift].ids[n&v.mask] = id
	atomic.StoreUint32(v.above(n), place)
	atomic.StoreUint32(v.state(n), used|uint32(level))
	v.mark(n)
	return n
}

// placeLocked returns a place that refers to the one above it.
func (g *Graph) placeLocked(above uint32) uint32 {
	a := &g.alloc
	place := a.place
	if place == none {
		place = a.places
		a.places++
		g.growLocked(0, int(a.places), noneWords)
	} else {
		a.place = *g.view.Load().higher(place)
	}
	atomic.StoreUint32(g.view.Load().higher(place), above)
	return place
}

// growLocked makes room for so many nodes and places, and for an eighth more than
// there were. What words returns is what their lists hold at first.
func (g *Graph) growLocked(nodes, places int, words func(count int) []uint32) {
	v, held := g.view.Load(), int64(0)
	if count := v.missing(nodes, len(v.nodes)); count > 0 {
		v, held = v.grown(count, words)
		g.alloc.held += held
	}
	if count := v.missing(places, len(v.upper)); count > 0 {
		v, held = v.raised(count, words)
		g.alloc.held += held
	}
	g.view.Store(v)
}

// missing returns how many segments are to be added to those there are, for them
// to hold at least so many things. Memory that is allocated at once has larger
// pages.
func (s *shape) missing(things, segments int) int {
	need := (things+int(s.mask))>>s.shift - segments
	if need <= 0 {
		return 0
	}
	return max(need, min(segments/8, maxGrowth>>s.shift))
}

// release gives a node and its places back. Nobody may know of it any more.
func (g *Graph) release(n uint32) {
	a := &g.alloc
	a.mu.Lock()
	defer a.mu.Unlock()
	v := g.view.Load()
	for place := *v.above(n); place != none; {
		words := v.placeWords(place)
		next := words[len(words)-1]
		for i := range words {
			words[i] = none
		}
		words[len(words)-1] = a.place
		a.place = place
		place = next
	}
	if *v.state(n)&twin != 0 {
		g.twins.Add(-1)
	}
	write(v.neighbours(n, 0), nil)
	atomic.StoreUint32(v.above(n), none)
	atomic.StoreUint32(v.next(n), none)
	atomic.StoreUint32(v.state(n), 0)
	v.mark(n)
	a.free = append(a.free, n)
}
