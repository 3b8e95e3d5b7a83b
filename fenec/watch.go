package fenec

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/history"
)

// watch wakes subscriptions, and others who wait, when collections are written to. A writer notes
// the collections of its block and, once readers can see it, pokes a goroutine
// that does the waking; nothing else is done for those who wait, however many.
type watch struct {
	last  func() uint64 // number of the last write, seen or not
	seen  func() uint64 // up to which readers see everything
	count atomic.Int64  // of those who joined; writers look at it without the lock
	poke  chan struct{} // holds one

	mu      sync.Mutex // guards the fields below
	topics  map[uint32]*topic
	noted   []*topic // those with something not told yet
	shapes  map[shapeKey]*shape
	stop    chan struct{} // ends the goroutine; nil while there is none
	closed  bool
	running sync.WaitGroup
}

// What topics are for that are about more than one collection.
const (
	everything = ^uint32(0) - iota // every write
	everyone                       // every write to a collection that is not the server's own
)

// topic is a collection, or several, that somebody wants to hear of.
type topic struct {
	number    uint32
	subs      int    // who joined it
	told      uint64 // the last write to it that was told
	before    uint64 // the last one that was told before those
	begin     uint64 // no write to it lies between before and here
	from, to  uint64 // writes to it that are not told yet lie from here to there; 0 for none
	awakening *awakening
}

// awakening is what those wait for who wait for a topic.
type awakening struct {
	done chan struct{}
	from uint64 // before done is closed: no write to the topic since it was waited for is earlier
}

func (w *watch) init(last, seen func() uint64) {
	w.last, w.seen = last, seen
	w.poke = make(chan struct{}, 1)
}

// join adds a subscription to a collection.
func (w *watch) join(number uint32) (*topic, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	if w.count.Add(1) == 1 {
		w.start()
	}
	t := w.topics[number]
	if t == nil {
		t = &topic{number: number}
		if w.topics == nil {
			w.topics = map[uint32]*topic{}
		}
		w.topics[number] = t
	}
	t.subs++
	// A block may be on its way whose writer saw no topic yet. Either readers see
	// it by now, or its writer will see that there is someone to poke.
	if last := w.last(); last > w.seen() {
		w.note(t, last)
	}
	return t, nil
}

// leave takes a subscription away.
func (w *watch) leave(t *topic) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.subs--; t.subs == 0 {
		delete(w.topics, t.number)
	}
	if w.count.Add(-1) == 0 && !w.closed {
		close(w.stop)
		w.stop = nil
	}
}

// start starts the goroutine that tells. The lock is held.
func (w *watch) start() {
	stop := make(chan struct{})
	w.stop = stop
	w.running.Go(func() {
		for {
			select {
			case <-w.poke:
				w.tell()
			case <-stop:
				return
			}
		}
	})
}

// wrote notes what a block touched that ends at last. Blocks come in order,
// before readers see them.
func (w *watch) wrote(n *history.Notes, last uint64) {
	if w.count.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touch(everything, last)
	if n.Visible() {
		w.touch(everyone, last)
	}
	for _, number := range n.Collections() {
		w.touch(number, last)
	}
}

// touch notes that a block ending at last touches a topic, if there is one of that
// number.
func (w *watch) touch(number uint32, last uint64) {
	if t := w.topics[number]; t != nil {
		w.note(t, last)
	}
}

// note notes that the block which readers do not see yet touches t.
func (w *watch) note(t *topic, last uint64) {
	if t.from == 0 {
		t.from = w.seen() + 1
		w.noted = append(w.noted, t)
	}
	t.to = last
}

// published has what was noted told. Call it once readers see the block.
func (w *watch) published() {
	if w.count.Load() == 0 {
		return
	}
	select {
	case w.poke <- struct{}{}:
	default: // it is going to look anyway
	}
}

// tell wakes those who wait for what readers can see by now.
func (w *watch) tell() {
	for _, a := range w.due() {
		close(a.done)
	}
}

func (w *watch) due() (due []*awakening) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen()
	later := w.noted[:0]
	for _, t := range w.noted {
		if t.from > seen {
			later = append(later, t)
			continue
		}
		if a := t.awakening; a != nil {
			a.from = t.from
			t.awakening = nil
			due = append(due, a)
		}
		t.before, t.begin, t.told = t.told, t.from, min(t.to, seen)
		if t.from = 0; t.to > seen {
			t.from = seen + 1
			later = append(later, t)
		}
	}
	clear(w.noted[len(later):])
	w.noted = later
	return due
}

// wait returns when the topic has been written to after cursor. What it returns
// is a cursor that may be further on, to which nothing happened to the topic.
func (w *watch) wait(ctx context.Context, t *topic, cursor uint64, ended <-chan struct{}) (uint64, error) {
	a, cursor, err := w.await(t, cursor)
	if a == nil {
		return cursor, err
	}
	select {
	case <-a.done:
		return max(cursor, a.from-1), nil
	case <-ctx.Done():
		return cursor, ctx.Err()
	case <-ended:
		return cursor, errSubscriptionClosed
	}
}

// await returns what to wait for, or nil if there is no need, and a cursor as
// wait does.
func (w *watch) await(t *topic, cursor uint64) (*awakening, uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, cursor, ErrClosed
	case t.told > cursor && cursor >= t.before:
		return nil, max(cursor, t.begin-1), nil
	case t.told > cursor:
		return nil, cursor, nil
	case t.awakening == nil:
		t.awakening = &awakening{done: make(chan struct{})}
	}
	return t.awakening, cursor, nil
}

// close ends every wait and lets no more subscriptions be made.
func (w *watch) close() {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	w.closed = true
	if w.stop != nil {
		close(w.stop)
	}
	var due []*awakening
	for _, t := range w.topics {
		if a := t.awakening; a != nil {
			a.from, t.awakening = 1, nil
			due = append(due, a)
		}
	}
	w.mu.Unlock()
	for _, a := range due {
		close(a.done)
	}
	w.running.Wait()
}
