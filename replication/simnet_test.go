package replication

import (
	"container/heap"
	"math/rand"
	"time"
)

// event is something that happens at a moment of true time.
type event struct {
	at  time.Duration
	nth int // events of one moment keep their order
	do  func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].nth < h[j].nth
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// timeline runs events in the order of true time.
type timeline struct {
	now    time.Duration
	events eventHeap
	nth    int
}

func (tl *timeline) after(d time.Duration, do func()) {
	tl.nth++
	heap.Push(&tl.events, event{tl.now + d, tl.nth, do})
}

func (tl *timeline) step() {
	e := heap.Pop(&tl.events).(event)
	tl.now = e.at
	e.do()
}

// clock is a machine's two clocks. Each drifts; the first may stop while the
// machine is suspended, and only where it does not is the second ever set.
type clock struct {
	tl         *timeline
	boot, wall float64 // speeds
	offset     time.Duration
	stops      bool
	stopped    time.Duration // how long the first has stood still
}

func newClock(tl *timeline, rnd *rand.Rand, drift float64) *clock {
	speed := func() float64 { return 1 - drift + 2*drift*rnd.Float64() }
	c := &clock{tl: tl, boot: speed(), wall: speed(), stops: rnd.Intn(3) == 0}
	if rnd.Intn(2) == 0 {
		c.boot, c.wall = 1-drift, 1-drift
	}
	return c
}

func (c *clock) instant() Instant {
	return Instant{
		Boot: time.Duration(c.boot * float64(c.tl.now-c.stopped)),
		Wall: time.Duration(c.wall*float64(c.tl.now)) + c.offset,
	}
}

// machine is a process that may be down or paused, and the lines to and from it,
// either of which may be cut.
type machine struct {
	tl            *timeline
	clock         *clock
	up            bool
	life          int // processes so far
	pausedTill    time.Duration
	waiting       []func()
	cutIn, cutOut time.Duration // until when
}

// arrive does what a message asks, once the machine runs again.
func (m *machine) arrive(do func()) {
	switch {
	case !m.up:
	case m.tl.now < m.pausedTill:
		m.waiting = append(m.waiting, do)
	default:
		do()
	}
}

// pause stops the process; its clocks go on, or the first one stops as well.
func (m *machine) pause(d time.Duration, suspended bool) {
	if m.tl.now < m.pausedTill {
		return
	}
	m.pausedTill = m.tl.now + d
	for ; suspended && m.clock.stops && d > 0; d -= time.Millisecond {
		// In small steps, so that the clock stands still and does not jump.
		m.tl.after(m.pausedTill-d-m.tl.now, func() { m.clock.stopped += time.Millisecond })
	}
	m.tl.after(m.pausedTill-m.tl.now, m.resume)
}

func (m *machine) resume() {
	waiting := m.waiting
	m.waiting = nil
	for _, do := range waiting {
		m.arrive(do)
	}
}

func (m *machine) stop() {
	m.up, m.pausedTill, m.waiting = false, 0, nil
}

// network loses, delays, doubles and reorders.
type network struct {
	tl    *timeline
	rnd   *rand.Rand
	rough bool
	late  time.Duration // the longest delay
}

// send has do done at the machine to, unless the message is lost.
func (n *network) send(from, to *machine, do func()) {
	if n.tl.now < from.cutOut || n.tl.now < to.cutIn || n.rough && n.rnd.Intn(20) == 0 {
		return
	}
	copies := 1
	if n.rough && n.rnd.Intn(20) == 0 {
		copies = 2
	}
	for range copies {
		delay := time.Duration(1+n.rnd.Intn(10)) * time.Millisecond
		if n.rough && n.rnd.Intn(10) == 0 {
			delay = time.Duration(n.rnd.Int63n(int64(n.late)))
		}
		n.tl.after(delay, func() { to.arrive(do) })
	}
}
