package hnsw

// dropLost makes the nodes dead that have no vector, and tells of them.
func (l *loader) dropLost(tell func(id uint64) error) error {
	for n := range l.count {
		if l.filled[n] || *l.v.state(n)&(used|dead) != used {
			continue
		}
		id := l.v.id(n)
		if tell != nil {
			if err := tell(id); err != nil {
				return err
			}
		}
		l.g.Delete(id)
	}
	return nil
}

// standInForLost has nodes without a vector stand where one of their neighbours does,
// so that searches can walk through them.
func (l *loader) standInForLost() {
	for n := range l.count {
		if state := *l.v.state(n); !l.filled[n] && state&linked != 0 {
			if m := l.standIn(n); m != none {
				l.v.rows.copy(n, m)
			}
		}
	}
}

// standIn returns a node that is about where n was: a twin with a vector, else the
// first neighbour with one, else none.
func (l *loader) standIn(n uint32) uint32 {
	for t := *l.v.next(n); t != none; t = *l.v.next(t) {
		if l.filled[t] {
			return t
		}
	}
	for _, m := range l.v.read(l.v.neighbours(n, 0), nil) {
		if l.filled[m] {
			return m
		}
	}
	return none
}
