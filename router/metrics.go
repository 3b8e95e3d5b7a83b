package router

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

// kind is which part of the router a request is for, as metrics tell them apart.
type kind uint8

const (
	forOther kind = iota
	forTenant
	forShard
	forReplication
	forMetrics
	kinds
)

// counted is the kind of a request that is in the counters already.
const counted = kinds

var kindNames = [kinds]string{"other", "tenant", "shard", "replication", "metrics"}

// kindOf returns the kind of a request for the router itself, whose path begins with
// the segment.
func kindOf(first string) kind {
	switch first {
	case "_shard":
		return forShard
	case "_replication":
		return forReplication
	case "_metrics":
		return forMetrics
	}
	return forOther
}

// codes are the classes of statuses that are counted, from 2xx to 5xx.
const codes = 4

var codeNames = [codes]string{"2xx", "3xx", "4xx", "5xx"}

// tally is what was counted of some requests.
type tally struct {
	requests [kinds][codes]uint64
	took     [kinds]metrics.Distribution
	upstream metrics.Distribution
}

// answered counts a request that was answered with the status, 0 if it was not. took is
// until the answer was sent, or the head of a stream was.
func (t *tally) answered(k kind, status int, took time.Duration) {
	class := status/100 - 2
	if class < 0 || class >= codes {
		return
	}
	t.requests[k][class]++
	if k != forReplication {
		t.took[k].Observe(&metrics.Quick, took)
	}
}

// forwarded counts how long a node took to answer: from when the request was ready to
// be sent until the head of the answer was read.
func (t *tally) forwarded(took time.Duration) { t.upstream.Observe(&metrics.Quick, took) }

func (t *tally) add(other *tally) {
	for k := range kinds {
		for class := range codes {
			t.requests[k][class] += other.requests[k][class]
		}
		t.took[k].Add(&other.took[k])
	}
	t.upstream.Add(&other.upstream)
}

// sharedTally is a tally of many. It has a cache line to itself, and the one that is
// fetched with it.
type sharedTally struct {
	mu sync.Mutex // guards the field below
	tally
	_ [128]byte
}

// shares is how many shared tallies there are, so that requests that end at the same
// moment seldom wait for one another.
const shares = 16

// counters are what the router counts. Each client of its own server has a tally for
// itself, under a lock that it takes for every request anyway; the shared ones are for
// requests that came through ServeHTTP, and for clients that have gone. The counters
// are safe for concurrent use.
type counters struct {
	shared [shares]sharedTally

	failures sync.Map // how often a node failed a request, *atomic.Uint64 by the node's name

	moves  [moveOutcomes]atomic.Uint64
	moving metrics.Histogram
}

// count changes one of the shared tallies.
func (c *counters) count(change func(*tally)) {
	s := &c.shared[rand.Uint32()%shares]
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.tally)
}

// sum returns what was counted of all requests. No client leaves meanwhile, so that
// none is counted twice or not at all.
func (c *counters) sum(f *front) *tally {
	f.mu.Lock()
	defer f.mu.Unlock()
	total := &tally{}
	f.addTalliesLocked(total)
	for i := range c.shared {
		s := &c.shared[i]
		s.mu.Lock()
		total.add(&s.tally)
		s.mu.Unlock()
	}
	return total
}

// failed counts a request that was answered 502 for the node's sake.
func (c *counters) failed(node string) {
	n, ok := c.failures.Load(node)
	if !ok {
		n, _ = c.failures.LoadOrStore(node, new(atomic.Uint64))
	}
	n.(*atomic.Uint64).Add(1)
}

// moveOutcome is how a move has ended.
type moveOutcome uint8

const (
	moveDone moveOutcome = iota
	moveFailed
	moveOutcomes
)

var moveOutcomeNames = [moveOutcomes]string{"done", "failed"}

// moved counts a move that had begun and has ended.
func (c *counters) moved(o moveOutcome, took time.Duration) {
	c.moves[o].Add(1)
	c.moving.Observe(&metrics.Slow, took)
}
