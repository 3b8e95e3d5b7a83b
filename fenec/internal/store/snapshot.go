package store

import (
	"sync"
	"sync/atomic"
)

// Snapshot is a consistent state of the store: everything up to one sequence,
// nothing after it. A checkpoint folds only what every open snapshot has
// already seen, so base and fronts agree for as long as the snapshot is open.
// Close it soon: one that stands in the way for too long is ended by the store
// and its reads fail with ErrSnapshotTooOld.
//
// A Snapshot may be used by many goroutines, each through a View of its own.
type Snapshot struct {
	s     *Store
	st    *state
	seq   uint64
	ended atomic.Pointer[error] // why the store ended it, or nil

	prev, next *Snapshot // guarded by registry.mu; nil when closed
}

// Seq returns the sequence the snapshot stands at.
func (sn *Snapshot) Seq() uint64 { return sn.seq }

// View returns a reader of the snapshot. Release it after each batch of reads.
func (sn *Snapshot) View() *View {
	v := new(View)
	v.read(sn)
	return v
}

// Close gives the snapshot up. It may be called more than once.
func (sn *Snapshot) Close() { sn.s.snapshots.remove(sn) }

// Read is a snapshot with its only view, for one statement. It costs no
// memory of its own.
type Read struct {
	View
	snapshot Snapshot
}

var reads = sync.Pool{New: func() any { return new(Read) }}

// Read opens a snapshot of everything committed so far, to be read once. End
// it, and use nothing of it afterwards.
func (s *Store) Read() (*Read, error) {
	r := reads.Get().(*Read)
	if err := s.snapshots.open(s, &r.snapshot); err != nil {
		return nil, err
	}
	r.View.read(&r.snapshot)
	return r, nil
}

// End gives the snapshot up.
func (r *Read) End() {
	r.Release()
	r.snapshot.Close()
	*r = Read{View: View{iters: r.iters, spare: r.spare, near: r.near}}
	reads.Put(r)
}

// registry lists the open snapshots, oldest first. Sequences never descend
// along the list, since they are taken under mu.
type registry struct {
	mu     sync.Mutex
	root   Snapshot // sentinel of a ring
	closed error    // why no snapshot may be opened any more, or nil

	// released is told whenever the oldest snapshot goes. It does not block.
	released func()
}

func (r *registry) init(released func()) {
	r.root.prev, r.root.next = &r.root, &r.root
	r.released = released
}

// open announces a snapshot before it takes its state, so that no checkpoint
// can fold past it unseen.
func (r *registry) open(s *Store, sn *Snapshot) error {
	sn.s = s
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed != nil {
		return r.closed
	}
	sn.st = s.state.Load()
	sn.seq = sn.st.live.published.Load()
	last := r.root.prev
	last.next, sn.prev, sn.next, r.root.prev = sn, last, &r.root, sn
	return nil
}

func (r *registry) remove(sn *Snapshot) {
	r.mu.Lock()
	if sn.next == nil {
		r.mu.Unlock()
		return
	}
	oldest := sn.prev == &r.root
	sn.unlinkLocked()
	r.mu.Unlock()
	if oldest {
		r.released()
	}
}

func (sn *Snapshot) unlinkLocked() {
	sn.prev.next, sn.next.prev = sn.next, sn.prev
	sn.prev, sn.next = nil, nil
}

// oldest returns the sequence of the oldest open snapshot; ok is false if none
// is open.
func (r *registry) oldest() (seq uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := r.root.next; first != &r.root {
		return first.seq, true
	}
	return 0, false
}

// end ends every snapshot below seq with cause and forgets it.
func (r *registry) end(seq uint64, cause error) {
	r.mu.Lock()
	for sn := r.root.next; sn != &r.root && sn.seq < seq; {
		next := sn.next
		sn.ended.Store(&cause)
		sn.unlinkLocked()
		sn = next
	}
	r.mu.Unlock()
	r.released()
}

// close ends every snapshot and lets no more be opened.
func (r *registry) close(cause error) {
	r.mu.Lock()
	r.closed = cause
	r.mu.Unlock()
	r.end(^uint64(0), cause)
}

// Oldest returns the sequence of the oldest open snapshot, or the last one
// committed if none is open.
func (s *Store) Oldest() uint64 {
	if seq, ok := s.snapshots.oldest(); ok {
		return seq
	}
	return s.Seq()
}
