package graphs

import (
	"context"
	"math"
	"runtime"

	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// manyPending is how many changes may be pending before a graph is loaded that
// nobody has searched yet.
const manyPending = 10_000

// A graph is repaired when more than fewDead nodes and one in repairShare are dead.
const (
	fewDead     = 64
	repairShare = 20
)

// takeUp has g take up the changes that the base has pending, up to the number upTo at
// least.
func (s *Set) takeUp(ctx context.Context, g *Graph, upTo uint64, t turns) error {
	g.linking.Lock()
	defer g.linking.Unlock()
	for g.Linked().Seq <= upTo {
		list, vectors, err := g.next(s.open)
		if len(list) == 0 || err != nil {
			return err
		}
		if err := g.take(ctx, vectors, t); err != nil {
			return err
		}
		last := list[len(list)-1]
		g.linked.Store(&last)
		s.folds.WhenIdle()
		if dead := g.Dead(); dead > fewDead && dead > g.Len()/repairShare {
			if err := g.Repair(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// turns bound how many vectors are linked at once. Nil turns do not.
type turns chan struct{}

// background are the turns of all linkers of the process together. They leave a core
// to those who search and write, if there is more than one: a process may have
// thousands of databases, many of which come to it at once with vectors to be linked.
var background = make(turns, max(1, runtime.GOMAXPROCS(0)-1))

// wait waits for a turn, until ctx ends. Follow it by done.
func (t turns) wait(ctx context.Context) error {
	if t == nil {
		return ctx.Err()
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turns) done() {
	if t != nil {
		<-t
	}
}

// wake lets a linker look for what is pending.
func (s *Set) wake() {
	if len(s.indexes()) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.linker != nil || s.closed {
		s.again = true
		return
	}
	s.linker = make(chan struct{})
	go s.link(s.linker)
}

// link links until nothing is pending. Where that fails, the changes stay pending.
func (s *Set) link(done chan struct{}) {
	defer close(done)
	for more := true; more; {
		built := s.built()
		s.loadBusy(built)
		for _, g := range s.loaded() {
			if _, ok := built[g.index.Space]; ok {
				s.note(g.index.Space, s.takeUp(s.life, g, math.MaxUint64, background))
			}
		}
		s.mu.Lock()
		more, s.again = s.again && !s.closed, false
		if !more {
			s.linker = nil
		}
		s.mu.Unlock()
	}
}

// loadBusy loads graphs for which much is pending.
func (s *Set) loadBusy(built map[uint32]place) {
	for space, p := range built {
		s.mu.Lock()
		known := s.loads[space] != nil
		s.mu.Unlock()
		if known {
			continue
		}
		busy, err := s.busy(space)
		if busy && err == nil {
			_, err = s.Graph(s.life, p.col, p.index)
		}
		s.note(space, err)
	}
}

// busy reports whether much is pending that the graph of the index in that space, as
// it is stored, has not taken up.
func (s *Set) busy(space uint32) (bool, error) {
	tx, err := s.open()
	if err != nil {
		return false, err
	}
	defer tx.Release()
	linked, err := table.LinkedIn(tx, space)
	if err != nil {
		return false, err
	}
	n, err := tx.Count(space, append(linked.Append(nil), 0), nil)
	return n > manyPending, err
}
