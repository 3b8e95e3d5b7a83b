package hnsw

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// Stored is a stored graph, which Load does not change or keep.
type Stored struct {
	Header []byte
	Codes  []byte   // nil if none were ever stored
	Chunks [][]byte // by number

	// Guard, unless nil, calls read, which reads the chunks in a goroutine of its own,
	// and returns its error, or one for what comes of the memory that they lie in.
	Guard func(read func() error) error

	// Lost, unless nil, is called with each id that has no vector. Its error is Load's.
	Lost func(id uint64) error
}

// Load returns the graph that was stored by Changes of one with the same
// parameters, of which EFConstruction and Seed may differ. It calls fill once, which puts the
// vectors of the ids that the graph may have and returns whether the graph has
// them; put may be called from many goroutines, but once for an id. Ids without a vector
// are dead afterwards. The error is fill's, or wraps ErrCorrupt.
func Load(p Params, stored Stored, fill func(put func(id uint64, v []float32) bool) error) (*Graph, error) {
	g, err := New(p)
	if err != nil {
		return nil, err
	}
	l := loader{g: g, chunks: stored.Chunks, guard: stored.Guard}
	if l.guard == nil {
		l.guard = func(read func() error) error { return read() }
	}
	l.units.New = func() any {
		unit := make([]float32, p.Dim)
		return &unit
	}
	if l.header, err = parseHeader(stored.Header, &g.params, stored.Chunks); err != nil {
		return nil, err
	}
	if err := l.readCodes(stored.Codes); err != nil {
		return nil, err
	}
	if err := l.readGraph(); err != nil {
		return nil, err
	}
	l.filled = make([]bool, l.count)
	if err := fill(l.put); err != nil {
		return nil, err
	}
	if err := l.dropLost(stored.Lost); err != nil {
		return nil, err
	}
	l.standInForLost()
	return g, nil
}

// loader makes a graph of a stored one.
type loader struct {
	header
	g      *Graph
	v      *view
	chunks [][]byte
	guard  func(read func() error) error
	places atomic.Uint32 // handed out
	filled []bool        // nodes whose vector is there

	// byID are the nodes of the ids from leastID on, or none; empty if there are
	// more gaps than ids.
	byID    []uint32
	leastID uint64

	// heights are the numbers of levels of nodes in the graph, 0 for others.
	heights []uint8
	units   sync.Pool // of vectors to normalise into
}

func (l *loader) readCodes(b []byte) error {
	if b == nil {
		return nil
	}
	codes, err := parseCodes(b, &l.params)
	if err != nil {
		return err
	}
	v := *l.g.view.Load()
	v.rows.codes = codes
	l.g.view.Store(&v)
	return nil
}

// readGraph makes the graph of the chunks, but for the vectors.
func (l *loader) readGraph() error {
	a := &l.g.alloc
	a.mu.Lock()
	a.count, a.places = l.count, l.header.places
	l.g.growLocked(int(a.count), int(a.places), memory[uint32])
	a.mu.Unlock()
	l.v = l.g.view.Load()
	l.heights = make([]uint8, l.v.size())
	for n := l.count; int(n) < l.v.size(); n++ {
		fillNone(l.v.neighbours(n, 0))
	}
	for place := l.header.places; int(place) < l.v.places(); place++ {
		fillNone(l.v.placeWords(place))
	}
	if err := l.each(l.readChunk); err != nil {
		return err
	}
	if l.places.Load() != l.header.places {
		return fmt.Errorf("%w: lists are missing", ErrCorrupt)
	}
	if err := l.each(l.checkChunk); err != nil {
		return err
	}
	if err := l.readEntry(); err != nil {
		return err
	}
	return l.admit()
}

// each calls do with the number of each chunk, from as many goroutines as there
// are cores, until one fails.
func (l *loader) each(do func(chunk int) error) error {
	var next atomic.Int64
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range cap(errs) {
		go func() {
			errs <- l.guard(func() error { return l.some(&next, do) })
		}()
	}
	var err error
	for range cap(errs) {
		if e := <-errs; e != nil {
			err = e
		}
	}
	return err
}

// some calls do with the numbers of chunks from next on, as long as there are any.
func (l *loader) some(next *atomic.Int64, do func(chunk int) error) error {
	const step = 64
	for {
		first := int(next.Add(step)) - step
		for i := first; i < min(first+step, len(l.chunks)); i++ {
			if err := do(i); err != nil {
				return err
			}
		}
		if first >= len(l.chunks) {
			return nil
		}
	}
}

// readChunk reads nodes and lists as they are.
func (l *loader) readChunk(chunk int) error {
	var r reader
	first := uint32(chunk * chunkNodes)
	ok := r.begin(l.chunks[chunk])
	for n := first; ok && n < first+chunkNodes; n++ {
		ok = l.readNode(&r, n)
	}
	if !ok || len(r.rest) > 0 {
		return fmt.Errorf("%w: chunk %d", ErrCorrupt, chunk)
	}
	return nil
}

func (l *loader) readNode(r *reader, n uint32) bool {
	state, ok := r.state()
	if !ok || state != 0 && n >= l.count {
		return false
	}
	if state == 0 {
		if n < l.count {
			fillNone(l.v.neighbours(n, 0))
		}
		return true
	}
	if l.v.nodes[n>>l.v.shift].ids[n&l.v.mask], ok = r.id(); !ok || !r.list(l.v.neighbours(n, 0)) {
		return false
	}
	if state&twin != 0 {
		*l.v.state(n) = state
		return true
	}
	*l.v.state(n) = state | linked
	l.heights[n] = uint8(state&levelMask) + 1
	word := l.v.above(n)
	for range state & levelMask {
		place := l.places.Add(1) - 1
		if place >= l.header.places {
			return false
		}
		words := l.v.placeWords(place)
		if !r.list(words[:len(words)-1]) {
			return false
		}
		*word = place
		word = &words[len(words)-1]
		*word = none
	}
	return true
}

// checkChunk drops from lists what cannot be a neighbour, and sees to it that
// twins have a head.
func (l *loader) checkChunk(chunk int) error {
	first := uint32(chunk * chunkNodes)
	for n := first; n < min(first+chunkNodes, l.count); n++ {
		state := *l.v.state(n)
		if state&twin != 0 {
			if head := l.v.neighbours(n, 0)[0]; head == none && l.params.Metric == vector.Cosine || l.valid(head, n, 0) {
				continue
			}
			return fmt.Errorf("%w: node %d is the twin of none", ErrCorrupt, n)
		}
		if state == 0 {
			continue
		}
		for level := range int(state&levelMask) + 1 {
			l.checkList(n, level)
		}
	}
	return nil
}

func (l *loader) checkList(n uint32, level int) {
	list := l.v.neighbours(n, level)
	kept := 0
	for _, m := range list {
		if l.valid(m, n, level) {
			list[kept] = m
			kept++
		} else if m != none {
			l.v.mark(n)
		}
	}
	fillNone(list[kept:])
}

// valid reports whether m can be a neighbour of n on a level.
func (l *loader) valid(m, n uint32, level int) bool {
	return int(m) < len(l.heights) && m != n && int(l.heights[m]) > level
}

func (l *loader) readEntry() error {
	e := l.header.entry
	if e != noEntry {
		if e.level() > maxLevel || !l.valid(e.node(), none, e.level()) {
			return fmt.Errorf("%w: no node is at the entry", ErrCorrupt)
		}
	}
	l.g.entry.Store(uint64(e))
	return nil
}

// admit makes ids, free nodes and twins known.
func (l *loader) admit() error {
	g := l.g
	l.spreadIDs()
	for i := range g.ids.shards {
		s := &g.ids.shards[i]
		s.roomLocked(l.v, int(l.count)/idShards)
	}
	for n := l.count; n > 0; {
		n--
		switch state := *l.v.state(n); {
		case state == 0:
			g.alloc.free = append(g.alloc.free, n)
			continue
		case state&dead != 0:
			g.gone.Add(1)
		default:
			if err := l.admitID(n); err != nil {
				return err
			}
		}
		if *l.v.state(n)&twin != 0 {
			l.chain(n)
		}
	}
	return nil
}

func (l *loader) admitID(n uint32) error {
	id := l.v.id(n)
	s := l.g.ids.shard(id)
	s.roomLocked(l.v, s.count+1)
	slot, found := s.findLocked(l.v, id)
	if found {
		return fmt.Errorf("%w: id %d has two nodes", ErrCorrupt, id)
	}
	s.putLocked(slot, n)
	l.g.live.Add(1)
	if len(l.byID) > 0 {
		l.byID[id-l.leastID] = n
	}
	return nil
}

// spreadIDs makes byID, without the nodes.
func (l *loader) spreadIDs() {
	least, most := uint64(math.MaxUint64), uint64(0)
	for n := range l.count {
		if *l.v.state(n)&(used|dead) == used {
			least, most = min(least, l.v.id(n)), max(most, l.v.id(n))
		}
	}
	if least <= most && most-least < 2*uint64(l.count) {
		l.leastID, l.byID = least, noneWords(int(most-least)+1)
	}
}

// chain puts a twin behind its head.
func (l *loader) chain(n uint32) {
	l.g.twins.Add(1)
	first := &l.g.zeros
	if head := l.v.neighbours(n, 0)[0]; head != none {
		first = l.v.next(head)
	}
	*l.v.next(n) = *first
	*first = n
}

// put stores the vector of an id.
func (l *loader) put(id uint64, v []float32) bool {
	n := l.find(id)
	if n == none || len(v) != l.params.Dim {
		return false
	}
	l.g.lengthen(v)
	unit := l.units.Get().(*[]float32)
	if _, isWhole := l.v.rows.put(n, v, *unit); isWhole {
		*l.v.state(n) |= whole
	}
	l.units.Put(unit)
	l.filled[n] = true
	return true
}

// find returns the node of an id, or none.
func (l *loader) find(id uint64) uint32 {
	switch i := id - l.leastID; {
	case len(l.byID) == 0:
		return l.g.lookup(id)
	case i < uint64(len(l.byID)):
		return l.byID[i]
	}
	return none
}
