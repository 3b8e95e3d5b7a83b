package store

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Note is a record of the log that takes no number of the sequence: something the owner
// says of itself, whole each time. It counts until an Owner has brought what it says into
// the base, which the next fold after it must do.
type Note struct {
	Record  []byte // not empty
	Seq     uint64 // the store is at, afterwards, if that is further: numbers up to there are nobody's
	Publish func() // called once the record is in the log, under the write lock
}

// Note appends the note that make returns under the write lock; none if that is nil. It
// returns once the note is on disk, whatever the policy, and with it every block before it.
func (s *Store) Note(ctx context.Context, make func() (*Note, error)) error {
	if err := s.writing.LockBefore(ctx); err != nil {
		return err
	}
	ticket, err := s.appendNote(make)
	s.writing.Unlock()
	if ticket.log == nil || err != nil {
		return err
	}
	return s.syncTo(ctx, ticket.log, ticket.end, ticket.To)
}

// appendNote is Note up to the flush.
func (s *Store) appendNote(make func() (*Note, error)) (Ticket, error) {
	if err := s.writable(); err != nil {
		return Ticket{}, err
	}
	n, err := make()
	if n == nil || err != nil {
		return Ticket{}, err
	}
	ticket := Ticket{s: s, To: max(n.Seq, s.Seq())}
	if s.path != "" {
		if err := s.ensureLog(ticket.To); err != nil {
			return ticket, err
		}
		s.opts.Step("note")
		ticket.log = s.log.Load()
		if ticket.end, err = ticket.log.Append(s.noteFrame(ticket.To, n.Record)); err != nil {
			return ticket, s.fail(err)
		}
		s.noted.Add(1)
		s.opts.Step("noted")
	}
	n.Publish()
	s.state.Load().live.published.Store(ticket.To)
	s.background.awaitIdleness()
	return ticket, nil
}

// noteFrame returns a note as a frame of the log, at a store of that sequence.
func (s *Store) noteFrame(seq uint64, record []byte) wal.Block {
	return wal.Block{From: seq + 1, To: seq, UnixMilli: s.opts.Clock().UnixMilli(), Payload: record}
}

// notesWait reports whether the log has a note that is not in the base.
func (s *Store) notesWait() bool { return s.noted.Load() != s.notesFolded.Load() }

// takeNote reads a note of the log, which is a block without numbers. It may be older
// than what the base holds, since each one is whole.
func (r *recovery) takeNote(blk *wal.Block) error {
	s := r.s
	for record, err := range blk.Parts() {
		if err != nil {
			return err
		}
		if len(record) == 0 || s.opts.TakeNote == nil {
			continue
		}
		if err := s.opts.TakeNote(record); err != nil {
			return err
		}
		s.noted.Add(1)
	}
	if live := s.state.Load().live; live.published.Load() < blk.To {
		live.published.Store(blk.To)
	}
	return nil
}
