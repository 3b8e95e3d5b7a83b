package graphs

import "github.com/fenec-go/fenecdb/fenec/internal/table"

// Held returns how much memory the graphs hold, as Bytes does, those of indexes
// that were dropped lately included. It costs next to nothing.
func (s *Set) Held() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.loads {
		if g := l.there(); g != nil {
			n += g.Bytes()
		}
	}
	return n
}

// Linked returns the last change that the graph of the index in that space has
// taken up. ok is false if the graph is not loaded: the base tells then.
func (s *Set) Linked(space uint32) (p table.Pending, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.loads[space]; l != nil {
		if g := l.there(); g != nil {
			return g.Linked(), true
		}
	}
	return p, false
}

// there returns the graph if it is loaded, else nil.
func (l *loading) there() *Graph {
	select {
	case <-l.done:
		return l.graph
	default:
		return nil
	}
}
