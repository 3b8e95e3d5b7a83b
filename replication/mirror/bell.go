package mirror

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

const (
	// bellNames is how many names a bell remembers by default.
	bellNames = 1 << 20
	// bellPause is how long a bell gathers by default before it tells.
	bellPause = 10 * time.Millisecond
)

// BellOptions say how a bell is rung.
type BellOptions struct {
	Names int           // how many it remembers, the latest. Default 1,048,576
	Pause time.Duration // it gathers for before it tells. Default 10 ms
}

// Bell tells the nodes that listen which names were written to, on one stream for all of
// them, so that a copy of what is seldom written needs no stream of its own. Its methods
// are safe for concurrent use.
//
// GET ?boot=…&cursor=… answers with a line of JSON at a time, each with the boot of the
// bell and a cursor:
//
//	{"boot":"…","cursor":n,"names":["acme",…]}  were written to
//	{"boot":"…","cursor":n,"all":true}          everything may have been
//	{"boot":"…","cursor":n}                     nothing was for a while
//
// A listener that comes again with both misses nothing. Names come at least once.
type Bell struct {
	boot string
	opts BellOptions

	mu     sync.Mutex // guards the fields below
	rings  *replication.Rings
	rung   chan struct{} // closed at the next ring; nil while nobody waits
	closed bool
	over   chan struct{} // closed by Close
}

// NewBell returns a bell.
func NewBell(opts BellOptions) *Bell {
	if opts.Names <= 0 {
		opts.Names = bellNames
	}
	if opts.Pause <= 0 {
		opts.Pause = bellPause
	}
	return &Bell{boot: rand.Text(), opts: opts, rings: replication.NewRings(opts.Names), over: make(chan struct{})}
}

// Ring says that name was written to.
func (b *Bell) Ring(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rings.Ring(name)
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}

// Forget drops a name that nobody needs to hear of any more.
func (b *Bell) Forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rings.Forget(name)
}

// Close ends all streams; further requests are refused.
func (b *Bell) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.over)
	}
}
