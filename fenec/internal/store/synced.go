package store

import "context"

// SyncedSeq returns the sequence up to which every block is on disk. What readers
// do not see yet is not counted.
func (s *Store) SyncedSeq() uint64 {
	// First: the log that is looked at then has these blocks, or goes on after them.
	seq := s.Seq()
	log := s.log.Load()
	if s.path == "" || log == nil {
		return seq
	}
	return max(s.base.Folded(), min(seq, log.syncedSeq(seq)))
}

// syncedSeq returns up to where blocks are on disk, of which the last one that was
// published is that of seq.
func (l *logFile) syncedSeq(seq uint64) uint64 {
	if before := l.before.Load(); before != nil && before.Durable() < before.End() {
		return before.DurableSeq()
	}
	// Numbers may go on past those of the last block, after an unclean end.
	if end := l.End(); l.Durable() >= end {
		return seq
	}
	return l.DurableSeq()
}

// WaitSynced returns once SyncedSeq is past seq. It has nothing flushed: that is as
// the policy says.
func (s *Store) WaitSynced(ctx context.Context, seq uint64) error {
	for {
		synced := s.synced.wait()
		switch err := s.failed(); {
		case s.background.life.Err() != nil:
			return ErrClosed
		case s.SyncedSeq() > seq:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-synced:
		case <-s.background.life.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
