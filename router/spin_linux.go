package router

const (
	// After maxMisses spins that were too short, less those that were not,
	// missRest waits do without.
	maxMisses, missRest = 32, 1024
	// After one that found the machine crowded minRest waits do without, and
	// up to maxRest when it goes on.
	minRest, maxRest = 16, 4096
)

// spinner decides whether a wait begins by spinning: by looking at a socket again
// and again for a moment, instead of blocking the thread at once. That pays where
// the machine is idle and the other side answers soon.
type spinner struct {
	rest   int // waits still to do without
	misses int // spins that were too short, less those that were not
	// penalty is for how many waits the machine was found crowded last. It
	// quadruples each time and shrinks by a 64th with each spin of use, so that
	// spinning stops for good where it is in the way most of the time.
	penalty int
}

// wanted reports whether the next wait is to spin.
func (s *spinner) wanted() bool {
	if s.rest == 0 {
		return true
	}
	s.rest--
	return false
}

// hit notes a spin that saw the wait's end.
func (s *spinner) hit() {
	s.misses = max(s.misses-1, 0)
	s.penalty -= (s.penalty + 63) / 64
}

// miss notes a spin that was too short.
func (s *spinner) miss() {
	if s.misses++; s.misses == maxMisses {
		s.misses, s.rest = 0, missRest
	}
}

// crowd notes a spin that other threads had to wait for.
func (s *spinner) crowd() {
	s.penalty = min(max(4*s.penalty, minRest), maxRest)
	s.rest = s.penalty
}
