package hnsw

// blocked is how many distances are measured at once when a candidate is
// compared with the neighbours chosen so far. The nearest of those are the
// likeliest to keep it out, so there is often no need for the rest.
const blocked = 4

// choose returns, in chosen, up to most of the candidates, which are sorted by
// their distance from some node. A candidate is passed over if it is nearer to
// one chosen before than to the node itself: it is then reached through that one.
// This makes links point into all directions, and between clusters. (Algorithm 4
// of the paper. Neither extending the candidates nor filling up with those passed
// over gains recall here, and both cost time.)
func (s *scratch) choose(candidates []near, most int, chosen []uint32) []uint32 {
	chosen = chosen[:0]
	for _, c := range candidates {
		if len(chosen) == most {
			break
		}
		if s.apart(c, chosen) {
			chosen = append(chosen, c.node())
		}
	}
	return chosen
}

// apart reports whether c is nearer to the node whose neighbours are chosen than
// to any of them.
func (s *scratch) apart(c near, chosen []uint32) bool {
	p := s.stored(c.node(), aside)
	for len(chosen) > 0 {
		some := chosen[:min(blocked, len(chosen))]
		for _, rank := range s.ranksOf(&p, some) {
			if rank < c.rank() {
				return false
			}
		}
		chosen = chosen[len(some):]
	}
	return true
}
