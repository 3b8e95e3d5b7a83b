package router

import "time"

const (
	// trialWaits is how many waits each way is tried for, and termWaits how
	// many the better one is then used for.
	trialWaits, termWaits = 512, 8192
	// longWait is what a longer wait counts as, so that a few of them do not
	// decide.
	longWait = 100 * time.Microsecond
)

// spinner decides whether waits begin by spinning: by looking at a socket again
// and again for a moment, instead of blocking the thread at once. Spinning keeps
// the processor awake, which on an idle machine shortens the waits to less than
// half; where others need the processor, or the other side takes its time, it
// only costs. So both ways are tried in turns, and the better one is used for a
// while.
type spinner struct {
	phase phase
	done  int              // waits of the phase
	took  [2]time.Duration // by blocking and by spinning, in their last trials
	pays  bool             // what the trials said
}

type phase int

const (
	tryBlocking phase = iota
	trySpinning
	useBetter
)

// spins reports whether the next wait is to spin.
func (s *spinner) spins() bool { return s.phase == trySpinning || s.phase == useBetter && s.pays }

// note notes how long a wait took.
func (s *spinner) note(took time.Duration) {
	s.done++
	if s.phase == useBetter {
		if s.done == termWaits {
			*s = spinner{}
		}
		return
	}
	s.took[s.phase] += min(took, longWait)
	if s.done == trialWaits {
		s.phase, s.done = s.phase+1, 0
		// A draw goes to blocking, which leaves the processor to others.
		s.pays = 10*s.took[trySpinning] < 9*s.took[tryBlocking]
	}
}
