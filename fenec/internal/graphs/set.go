package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Set is the graphs of one database. It is a store.Owner. Its methods are safe
// for concurrent use.
type Set struct {
	open    func() (*base.Tx, error)
	catalog func() *catalog.Catalog
	folds   Folds
	path    string // of the base, for errors

	life context.Context
	end  context.CancelFunc

	mu      sync.Mutex
	loads   map[uint32]*loading // by the space of the index
	loaders sync.WaitGroup      // of those at work, of which none begins once closed is set
	linker  chan struct{}       // closed when the linker at work has ended; nil without one
	again   bool                // there has been a fold since the linker began
	closed  bool

	// failures is why the linker could not go on with an index when it last tried, by
	// the space of the index.
	failures map[uint32]error
}

// loading is a graph, once it is there.
type loading struct {
	done  chan struct{}
	graph *Graph
	err   error
}

// Folds are how a set asks for folds of the store. Both return at once, and may be
// called often.
type Folds struct {
	Soon     func() // searches would be faster after one
	WhenIdle func() // something has been taken up that one is to store
}

// New returns a set of the graphs of the base at path, without any yet. open
// gives what is folded; catalog gives the definitions of now.
func New(path string, open func() (*base.Tx, error), cat func() *catalog.Catalog, folds Folds) *Set {
	s := &Set{open: open, catalog: cat, folds: folds, path: path, loads: map[uint32]*loading{}, failures: map[uint32]error{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends the linking that is going on, and waits for that and for graphs that
// are being loaded. Fold goes on to work.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	linker := s.linker
	s.mu.Unlock()
	s.end()
	if linker != nil {
		<-linker
	}
	s.loaders.Wait()
}

// Graph returns the graph of x, an index of c of kind HNSW, and loads it unless
// that has been done. A load that was begun goes on when ctx ends.
func (s *Set) Graph(ctx context.Context, c *catalog.Collection, x *catalog.Index) (*Graph, error) {
	s.mu.Lock()
	l := s.loads[x.Space]
	if l == nil {
		if s.closed {
			s.mu.Unlock()
			return nil, store.ErrClosed
		}
		l = &loading{done: make(chan struct{})}
		s.loads[x.Space] = l
		s.loaders.Go(func() { s.load(l, sourceOf(c, x)) })
	}
	s.mu.Unlock()
	select {
	case <-l.done:
		return l.graph, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// load loads a graph, and forgets that it was asked for if that fails.
func (s *Set) load(l *loading, from source) {
	l.graph, l.err = s.read(from)
	if l.err != nil {
		s.mu.Lock()
		delete(s.loads, from.index.Space)
		s.mu.Unlock()
	}
	close(l.done)
	if l.err == nil {
		s.wake() // now that the linker finds it
	}
}

func (s *Set) read(from source) (g *Graph, err error) {
	tx, err := s.open()
	if err != nil {
		return nil, err
	}
	defer tx.Release()
	defer base.Recover(s.path, base.Guard(), &err)
	if g, err = load(tx, from); err == nil {
		g.foldSoon = s.folds.Soon
	}
	return g, err
}

// Link takes up what the base has pending for x, an index of c, when it is called.
func (s *Set) Link(ctx context.Context, c *catalog.Collection, x *catalog.Index) error {
	g, err := s.Graph(ctx, c, x)
	if err != nil {
		return err
	}
	tx, err := s.open()
	if err != nil {
		return err
	}
	folded := tx.Folded()
	tx.Release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	return s.takeUp(ctx, g, folded, nil)
}

// loaded returns the graphs that are there. Those whose indexes are dropped are
// forgotten.
func (s *Set) loaded() []*Graph {
	live := s.indexes()
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Graph
	for space, l := range s.loads {
		select {
		case <-l.done:
		default:
			continue
		}
		if _, ok := live[space]; !ok {
			delete(s.loads, space)
			continue
		}
		out = append(out, l.graph)
	}
	return out
}

// place is an index and what it is on.
type place struct {
	col   *catalog.Collection
	index *catalog.Index
}

// indexes returns the indexes of kind HNSW that there are, by their spaces.
func (s *Set) indexes() map[uint32]place {
	out := map[uint32]place{}
	for _, c := range s.catalog().Collections() {
		for _, x := range c.Indexes() {
			if x.Kind == catalog.HNSW {
				out[x.Space] = place{c, x}
			}
		}
	}
	return out
}

// built returns those of the indexes that have the entries of all rows. An index
// in the building is linked by Link, when it has them: entries of old rows that are
// filled in may come before what has been linked, and would be passed over.
func (s *Set) built() map[uint32]place {
	out := s.indexes()
	maps.DeleteFunc(out, func(_ uint32, p place) bool { return !p.col.Built(p.index) })
	return out
}

// Bytes returns how much memory the graphs hold.
func (s *Set) Bytes() (n int64) {
	for _, g := range s.loaded() {
		n += g.Bytes()
	}
	return n
}

// Fold returns what a fold stores of the graphs.
func (s *Set) Fold(*base.Tx, uint64) (out []base.Change, err error) {
	for _, g := range s.loaded() {
		out = append(out, g.fold()...)
	}
	return out, nil
}

// Folded makes known that what Fold returned is stored, and that more may be
// pending.
func (s *Set) Folded(uint64) {
	for _, g := range s.loaded() {
		g.stored = g.folding
	}
	s.wake()
}

// Waits reports whether Fold would return something.
func (s *Set) Waits() bool {
	for _, g := range s.loaded() {
		if g.waits() {
			return true
		}
	}
	return false
}

// Failure returns why the linker could not take up changes of vectors that were
// pending when it last tried, nil if nothing was in its way. They stay pending.
func (s *Set) Failure() error {
	live := s.indexes()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.failures, func(space uint32, _ error) bool { return live[space].index == nil })
	var errs []error
	for _, space := range slices.Sorted(maps.Keys(s.failures)) {
		p := live[space]
		errs = append(errs, fmt.Errorf("link vectors of %q in collection %q: %w", p.col.PathName(p.index), p.col.Name, s.failures[space]))
	}
	return errors.Join(errs...)
}

// note keeps why an index could not be linked, or that it could. An end by Close
// is no failure.
func (s *Set) note(space uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		delete(s.failures, space)
	case s.life.Err() == nil:
		s.failures[space] = err
	}
}
