package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// background runs a store's checkpoints and periodic syncs, each on a
// goroutine or timer that exists only while there is something to do.
type background struct {
	s           *Store
	life        context.Context // of a compaction by itself
	end         context.CancelFunc
	compactions atomic.Uint64

	autoCompactions atomic.Uint64 // of these, those by compact

	dirty   atomic.Bool           // a periodic sync is due; its timer runs
	awaits  atomic.Bool           // the timer that looks for idleness runs
	blocked atomic.Bool           // a snapshot holds up the fold
	noRoom  atomic.Pointer[error] // why the last fold failed, if that was for want of room
	givenUp atomic.Bool           // a compaction failed, for want of space as a rule: the file stays as it is

	unblocked notifier // told when none does any more

	mu      sync.Mutex // guards the fields below
	stopped bool
	folds   bool           // a goroutine folds
	packs   bool           // a goroutine compacts
	again   bool           // it is to go on once more
	timers  [3]*time.Timer // nil until first used
	running sync.WaitGroup // timers' functions and the folding goroutine
}

// The timers.
const (
	syncTimer  = iota // until the next periodic sync
	idleTimer         // until the next look for idleness
	blockTimer        // until snapshots that hold up a fold are ended
)

// wrote is told of each commit; due says that the live front is worth a fold.
func (g *background) wrote(due bool) {
	if g.s.path != "" {
		if g.s.opts.Sync == SyncEvery && !g.dirty.Load() && !g.dirty.Swap(true) {
			g.after(syncTimer, g.s.opts.Interval, g.sync)
		}
		g.awaitIdleness()
	}
	if due {
		g.fold()
	}
}

// after runs fn when d has passed, unless the store is closed before.
func (g *background) after(timer int, d time.Duration, fn func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	g.timers[timer] = time.AfterFunc(d, func() {
		if g.enter() {
			defer g.running.Done()
			fn()
		}
	})
}

func (g *background) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.stopped {
		g.running.Add(1)
	}
	return !g.stopped
}

// stop ends everything and waits for it.
func (g *background) stop() {
	g.end()
	g.mu.Lock()
	g.stopped = true
	for _, t := range g.timers {
		if t != nil {
			t.Stop()
		}
	}
	g.mu.Unlock()
	g.running.Wait()
}

func (g *background) sync() {
	g.dirty.Store(false)
	// A failure is latched: the next write reports it.
	_ = g.s.Sync(context.Background())
}

// awaitIdleness sees to it that idleness is looked for.
func (g *background) awaitIdleness() {
	if !g.awaits.Load() && !g.awaits.Swap(true) {
		g.lookForIdleness()
	}
}

// lookForIdleness folds once nothing has been written for the idle period.
func (g *background) lookForIdleness() {
	seq := g.s.Seq()
	g.after(idleTimer, g.s.opts.IdleCheckpoint, func() {
		if g.s.Seq() != seq {
			g.lookForIdleness()
			return
		}
		g.awaits.Store(false)
		g.fold()
	})
}

// FoldSoon sees to it that a checkpoint starts after this call.
func (s *Store) FoldSoon() { s.background.fold() }

// FoldWhenIdle sees to it that a checkpoint runs once nothing has been written for
// Options.IdleCheckpoint: an Owner has something for the base, which no block brings
// there. In memory there is no hurry. It costs next to nothing to call it again.
func (s *Store) FoldWhenIdle() {
	if s.path != "" {
		s.background.awaitIdleness()
	}
}

// fold sees to it that a checkpoint starts after this call.
func (g *background) fold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	if g.folds {
		g.again = true
		return
	}
	g.folds = true
	g.running.Go(func() {
		for g.foldOnce() {
		}
	})
}

// foldOnce runs a checkpoint and reports whether another is wanted.
func (g *background) foldOnce() bool {
	s := g.s
	s.folding.Lock()
	// A failure is latched: the next write reports it.
	ok := s.checkpointLocked() == nil
	s.folding.Unlock()
	if ok && s.wantsCompaction() {
		g.compact()
	}
	pressed := s.full() && g.blocked.Load() && s.failed() == nil
	if pressed {
		g.press(grace)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.folds = (g.again || pressed) && !g.stopped
	g.again = false
	return g.folds
}

// compact sees to it that a compaction is going on.
func (g *background) compact() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped || g.packs {
		return
	}
	g.packs = true
	g.running.Go(func() {
		if g.s.Compact(g.life) == nil {
			g.autoCompactions.Add(1)
		} else {
			g.givenUp.Store(true)
		}
		g.mu.Lock()
		g.packs = false
		g.mu.Unlock()
	})
}

// What snapshots that hold up a fold get to go by themselves: while writers
// stand still, and while an image waits.
const (
	grace      = 20 * time.Millisecond
	imageGrace = time.Second
)

// press ends the snapshots that hold up a fold, unless they go by themselves
// within the grace period.
func (g *background) press(grace time.Duration) {
	unblocked := g.unblocked.wait()
	if !g.blocked.Load() {
		return
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-unblocked:
	case <-timer.C:
		g.s.endSnapshots()
	}
}

// hold notes that a snapshot holds up the fold of what is frozen up to seq.
func (g *background) hold(seq uint64) {
	if !g.blocked.Swap(true) {
		g.after(blockTimer, g.s.opts.SnapshotTimeout, g.s.endSnapshots)
	}
	if oldest, ok := g.s.snapshots.oldest(); !ok || oldest >= seq {
		g.released() // it went before it could see that it was waited for
	}
}

// released is told when the oldest snapshot goes.
func (g *background) released() {
	if g.blocked.Load() && g.unblock() {
		g.fold()
	}
}

// unblock notes that nothing holds up the fold any more, and reports whether
// something did.
func (g *background) unblock() bool {
	if !g.blocked.Swap(false) {
		return false
	}
	g.unblocked.tell()
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.timers[blockTimer]; t != nil {
		t.Stop()
	}
	return true
}

// endSnapshots ends the snapshots that hold up a fold.
func (s *Store) endSnapshots() {
	if st := s.state.Load(); st.frozen != nil {
		s.snapshots.end(st.frozen.published.Load(), ErrSnapshotTooOld)
	}
}

// compactLeast is the least free space worth a compaction by itself, in bytes.
const compactLeast = 64 << 20

func (s *Store) wantsCompaction() bool {
	if s.opts.CompactRatio < 0 || s.background.givenUp.Load() {
		return false
	}
	free := s.base.FreeBytes()
	return free >= compactLeast && float64(free) >= s.opts.CompactRatio*float64(s.base.Size())
}
