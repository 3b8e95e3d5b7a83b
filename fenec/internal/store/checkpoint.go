package store

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/front"
)

// checkpointLocked turns front and log over, if nothing is turned yet, and
// folds what it may. The folding lock is held.
func (s *Store) checkpointLocked() error {
	defer s.room.tell()
	if err := s.turn(); err != nil {
		return err
	}
	s.room.tell()
	return s.fold()
}

// foldSeenLocked folds what every open snapshot has seen by now: what was frozen
// already, then what has been written since.
func (s *Store) foldSeenLocked() error {
	seq := s.Seq()
	err := s.checkpointLocked()
	if err != nil || s.base.Folded() >= seq || s.state.Load().frozen != nil {
		return err
	}
	return s.checkpointLocked()
}

// foldAllLocked folds everything. No snapshot is open and no block is, nor
// will be.
func (s *Store) foldAllLocked() error {
	// What was frozen, then what is live.
	for range 2 {
		if err := s.checkpointLocked(); err != nil {
			return err
		}
	}
	return nil
}

// turn starts a fresh front and a fresh log and freezes the ones in use. It
// does nothing if something is frozen already or nothing is to be folded.
func (s *Store) turn() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	st := s.state.Load()
	seq := st.live.published.Load()
	if st.frozen != nil || seq == s.base.Folded() {
		return nil
	}
	if err := s.turnLog(seq); err != nil {
		return s.unfolded(err)
	}
	s.state.Store(&state{live: newLevel(seq), frozen: st.live})
	return nil
}

// turnLog renames the log in use and creates the next.
func (s *Store) turnLog(seq uint64) error {
	old := s.log.Load()
	if old == nil {
		return nil
	}
	if old.Last() < seq {
		// The next log goes on after seq, up to where numbers are nobody's. Without a
		// mark of that here, blocks would seem to be missing between the two.
		if _, err := old.Append(s.noteFrame(seq, nil)); err != nil {
			return err
		}
	}
	s.opts.Step("turn: rename log")
	if err := old.Rename(OldLogPath(s.path)); err != nil {
		return err
	}
	s.turned = old
	s.opts.Step("turn: create log")
	// Writers wait for this. So the flush is left to dropTurned: until then the
	// turned log has the reservation.
	log, err := s.createLog(seq, s.limit, true)
	if outOfRoom(err) {
		// As if nothing had been done.
		if err := old.Rename(LogPath(s.path)); err != nil {
			return s.fail(err)
		}
		s.turned = nil
	}
	if err != nil {
		return err
	}
	log.before.Store(old)
	s.log.Store(log)
	s.limit = log.Reserved()
	s.opts.Step("turned")
	return nil
}

// fold brings the frozen front into the base, up to what the oldest snapshot
// has seen, and drops it once all of it is there.
func (s *Store) fold() error {
	st := s.state.Load()
	if err := s.failed(); err != nil {
		return err
	}
	s.background.noRoom.Store(nil)
	if st.frozen == nil {
		return s.foldOwners()
	}
	all := st.frozen.published.Load()
	upTo := all
	if seq, ok := s.snapshots.oldest(); ok && seq < upTo {
		upTo = seq
	}
	if folded := s.base.Folded(); upTo > folded || upTo == all {
		s.opts.Step("fold")
		if err := s.foldFront(st.frozen.front, upTo); err != nil {
			return s.unfolded(err)
		}
		s.opts.Step("folded")
	}
	if upTo < all {
		s.background.hold(all) // the rest follows when the snapshot is closed
		return nil
	}
	s.background.unblock()
	s.writing.Lock()
	s.state.Store(&state{live: s.state.Load().live})
	s.writing.Unlock()
	return s.dropTurned()
}

// foldOwners brings into the base what owners have for it though nothing is
// frozen.
func (s *Store) foldOwners() error {
	if !slices.ContainsFunc(s.opts.Owners, Owner.Waits) {
		return nil
	}
	if err := s.layLog(); err != nil {
		return err
	}
	s.opts.Step("fold owners")
	if err := s.foldFront(front.New(), s.base.Folded()); err != nil {
		return s.unfolded(err)
	}
	return nil
}

// foldFront brings what f holds up to upTo into the base, and with it what the
// owners have for it.
func (s *Store) foldFront(f *front.Front, upTo uint64) error {
	folded := s.base.Folded()
	noted := s.noted.Load()
	own, err := s.ownChanges(f, folded, upTo)
	if err != nil {
		return err
	}
	next := changes(f, folded, upTo)
	err = s.foldBase(upTo, func() (base.Change, bool) {
		if c, ok := next(); ok || len(own) == 0 {
			return c, ok
		}
		c := own[0]
		own = own[1:]
		return c, true
	})
	if err != nil {
		return err
	}
	if s.path == "" {
		s.baseMemory.Store(s.base.Size() - s.base.FreeBytes())
	}
	for _, o := range s.opts.Owners {
		o.Folded(upTo)
	}
	s.notesFolded.Store(noted)
	s.synced.tell()
	return nil
}

// ownChanges returns what becomes of the spaces that are not folded as they are.
func (s *Store) ownChanges(f *front.Front, after, upTo uint64) (own []base.Change, err error) {
	if s.opts.Merger == nil && len(s.opts.Owners) == 0 {
		return nil, nil
	}
	defer base.Recover(s.path, base.Guard(), &err)
	tx, err := s.base.Acquire()
	if err != nil {
		return nil, err
	}
	defer tx.Release() // before the fold, which may wait for readers
	if s.opts.Merger != nil {
		if own, err = mergeSpaces(s.opts.Merger, tx, merged(f, after, upTo)); err != nil {
			return nil, err
		}
	}
	for _, o := range s.opts.Owners {
		more, err := o.Fold(tx, upTo)
		if err != nil {
			return nil, err
		}
		own = append(own, more...)
	}
	return own, nil
}

// dropTurned removes the log that has been folded. A block in the log after it
// counts only from then on by itself.
func (s *Store) dropTurned() error {
	turned := s.turned
	if turned == nil {
		return nil
	}
	log := s.log.Load()
	if log != nil {
		if err := log.Establish(); err != nil {
			return s.fail(err)
		}
	}
	s.opts.Step("drop log")
	s.turned = nil
	if log != nil {
		log.before.Store(nil)
	}
	err := turned.Close()
	if rerr := s.opts.FS.Remove(OldLogPath(s.path)); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	s.opts.Step("dropped log")
	return err
}

// changes yields what f holds of the sequences in (after, upTo], one change a
// key, for base.File.Fold: all but the spaces from MergedSpaces on, of which it
// has only that they are dropped.
func changes(f *front.Front, after, upTo uint64) func() (base.Change, bool) {
	drops := droppedSpaces(f, upTo)
	next := 0
	it := f.NewFoldIter(upTo)
	return func() (base.Change, bool) {
		if next < len(drops.list) {
			next++
			return base.Change{Op: base.OpDropSpace, Space: drops.list[next-1]}, true
		}
		for it.Next() && it.Space() < MergedSpaces {
			if it.Seq() > after && !drops.has(it.Space()) {
				return change(it), true
			}
		}
		return base.Change{}, false
	}
}

func change(it *front.FoldIter) base.Change {
	c := base.Change{Space: it.Space(), Key: it.Key(), Value: it.Value()}
	if it.Tombstone() {
		c.Op = base.OpDelete
	}
	return c
}

// spaceSet is a set of spaces in ascending order.
type spaceSet struct {
	list []uint32
	set  map[uint32]bool
}

func (s spaceSet) has(space uint32) bool { return s.set[space] }

// droppedSpaces returns the spaces dropped up to upTo. Some may be gone from
// the base already, but still have keys in f.
func droppedSpaces(f *front.Front, upTo uint64) spaceSet {
	found := spaceSet{set: map[uint32]bool{}}
	it := f.NewIter(dropped, nil, nil, upTo)
	for ok := it.First(); ok; ok = it.Next() {
		space := binary.BigEndian.Uint32(it.Key())
		found.list = append(found.list, space)
		found.set[space] = true
	}
	return found
}

func (s *Store) openAndWell() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.writable()
}
