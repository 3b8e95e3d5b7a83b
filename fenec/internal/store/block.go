package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/front"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Block is a set of changes that happens whole or not at all. The store has
// one at a time. It reads its own changes through its View. End it with Commit
// or Rollback.
type Block struct {
	View
	limit   func(recordBytes int64) error // or nil
	record  []byte                        // operations not yet in the log
	spilled bool                          // parts of the record are in the log
	numbers uint64                        // how many the block takes
	time    time.Time
	replay  bool // made during Open, without the write lock
}

// Begin opens a block. It waits for the one before, and while both fronts are
// full, until ctx ends. limit, if not nil, is asked before each append to the log
// with the length the record takes up there; its error ends the block.
func (s *Store) Begin(ctx context.Context, limit func(recordBytes int64) error) (*Block, error) {
	if err := s.lockForWriting(ctx); err != nil {
		return nil, err
	}
	if err := s.writable(); err != nil {
		s.writing.Unlock()
		return nil, err
	}
	b := s.startBlock()
	b.limit = limit
	b.time = s.opts.Clock()
	return b, nil
}

// BeginAt is Begin for a block whose first number is first, past those of all blocks,
// and which carries that time.
func (s *Store) BeginAt(ctx context.Context, first uint64, at time.Time) (*Block, error) {
	b, err := s.Begin(ctx, nil)
	if err != nil {
		return nil, err
	}
	if first <= b.seq {
		b.Rollback()
		return nil, fmt.Errorf("%w: a block at %d in a store at %d", wal.ErrOrder, first, b.seq)
	}
	b.seq, b.time = first-1, at
	return b, nil
}

// SetLimit makes limit be asked.
func (b *Block) SetLimit(limit func(recordBytes int64) error) { b.limit = limit }

func (s *Store) writable() error {
	if s.closed {
		return ErrClosed
	}
	return s.failed()
}

// startBlock makes the one Block ready. The write lock is held.
func (s *Store) startBlock() *Block {
	st := s.state.Load()
	b := &s.block
	// Who writes looks for a key more than once.
	*b = Block{record: b.record[:0], View: View{
		s: s, seq: st.live.published.Load(), iters: b.iters[:0], spare: b.spare, near: b.near[:0], got: true,
		overlay: s.overlay, live: st.live.front,
	}}
	if st.frozen != nil {
		b.View.frozen = st.frozen.front
	}
	return b
}

// lockForWriting takes the write lock once the live front has room.
func (s *Store) lockForWriting(ctx context.Context) error {
	for tried := false; ; {
		if err := s.writing.LockBefore(ctx); err != nil {
			return err
		}
		if !s.full() || s.closed || s.failed() != nil {
			return nil
		}
		if err := s.lacksRoom(); err != nil && tried {
			s.writing.Unlock()
			return err
		}
		tried = true
		// Taken under the write lock, without which no front is turned or folded.
		room := s.room.wait()
		s.writing.Unlock()
		s.background.fold()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// full reports whether writers must wait: for the fold of what is frozen, or,
// when they have run ahead of it, until the front they fill is frozen.
func (s *Store) full() bool {
	st := s.state.Load()
	held := st.live.front.MemoryBytes()
	if st.frozen != nil {
		return held >= s.opts.FrontBytes/2
	}
	// An empty front, which takes up some memory too, is never frozen.
	return held >= s.opts.FrontBytes && st.live.published.Load() != s.base.Folded()
}

// Put sets key in space. key and value are copied.
func (b *Block) Put(space uint32, key, value []byte) error {
	b.overlay.Replace(space, key, value, false)
	return b.checkSize()
}

// Delete takes key out of space.
func (b *Block) Delete(space uint32, key []byte) error {
	b.overlay.Replace(space, key, nil, true)
	return b.checkSize()
}

// DropSpace takes a whole space out. Its number must not be used again.
func (b *Block) DropSpace(space uint32) error {
	return b.Put(dropped, spaceKey(space), nil)
}

func (b *Block) checkSize() error {
	if b.overlay.MemoryBytes() > b.MaxBytes() {
		return fmt.Errorf("%w: more than %d bytes in one block", ErrBlockTooLarge, b.s.opts.BlockBytes)
	}
	return nil
}

// EntryBytes is the least number of bytes that a block takes for a key beside
// those of the key and of its value.
const EntryBytes = front.OverlayEntry

// MaxBytes returns how many bytes the keys of a block may take in all.
func (b *Block) MaxBytes() int64 {
	if b.replay {
		return math.MaxInt64
	}
	return b.s.opts.BlockBytes
}

// Next returns the number of the sequence that the next operation takes.
func (b *Block) Next() uint64 { return b.seq + b.numbers + 1 }

// Log adds an operation to the block's record and takes numbers of the
// sequence for it. In a replay the record is there already.
func (b *Block) Log(op []byte, numbers uint64) error {
	b.numbers += numbers
	if b.replay {
		return nil
	}
	if n := int64(len(op)); n > min(b.s.opts.BlockBytes, wal.MaxPayload) {
		return fmt.Errorf("%w: an operation of %d bytes", ErrBlockTooLarge, n)
	}
	if b.s.path == "" {
		return nil
	}
	if len(b.record)+len(op) > wal.MaxPayload {
		if err := b.spill(); err != nil {
			return err
		}
	}
	b.record = append(b.record, op...)
	if len(b.record) < wal.SpillBytes {
		return nil
	}
	return b.spill()
}

// Time returns the wall-clock time the block carries.
func (b *Block) Time() time.Time { return b.time }

// spill writes what the record holds so far as a part.
func (b *Block) spill() error {
	s := b.s
	if err := b.ask(); err != nil {
		return err
	}
	if err := s.ensureLog(b.seq + b.numbers); err != nil {
		return err
	}
	if err := s.log.Load().AppendPart(b.frame(0)); err != nil {
		return s.fail(err)
	}
	b.spilled = true
	b.record = b.record[:0]
	return nil
}

func (b *Block) ask() error {
	if b.limit == nil {
		return nil
	}
	return b.limit(wal.FrameBytes(len(b.record)))
}

// frame returns the pending record as a frame ending at sequence to; 0 for a
// part, whose range is not known yet.
func (b *Block) frame(to uint64) wal.Block {
	return wal.Block{From: b.seq + 1, To: to, UnixMilli: b.time.UnixMilli(), Payload: b.record}
}

// Commit appends the record to the log and publishes the changes in one step.
// publish, if not nil, is called with the block's last sequence just before
// readers can see it. The ticket says how to wait until the block is on disk.
// Whatever Commit returns, the block has ended; after an error it never was.
func (b *Block) Commit(publish func(seq uint64)) (Ticket, error) {
	s := b.s
	if b.numbers == 0 && b.overlay.Len() == 0 {
		none := Ticket{From: b.seq + 1, To: b.seq}
		b.end()
		return none, nil
	}
	to := b.seq + b.numbers
	ticket, err := b.append(to)
	if err != nil {
		b.Rollback()
		return Ticket{}, err
	}
	b.apply(to)
	if publish != nil {
		publish(to)
	}
	st := s.state.Load()
	st.live.published.Store(to)
	due := st.live.front.MemoryBytes() >= s.opts.FrontBytes/2
	b.end()
	if ticket.log == nil || ticket.log.Durable() >= ticket.end {
		s.synced.tell() // it was on disk before readers saw it
	}
	s.background.wrote(due)
	return ticket, nil
}

// append brings the record into the log.
func (b *Block) append(to uint64) (Ticket, error) {
	s := b.s
	ticket := Ticket{s: s, From: b.seq + 1, To: to}
	if err := b.ask(); err != nil {
		return ticket, err
	}
	if s.path == "" {
		return ticket, nil
	}
	if err := s.ensureLog(to); err != nil {
		return ticket, err
	}
	s.opts.Step("append")
	log := s.log.Load()
	end, err := log.Append(b.frame(to))
	if err != nil {
		return ticket, s.fail(err)
	}
	s.opts.Step("appended")
	ticket.log, ticket.end = log, end
	return ticket, nil
}

// apply moves the overlay's changes to the live front.
func (b *Block) apply(seq uint64) {
	for it := b.overlay.NewFoldIter(); it.Next(); {
		b.live.Insert(it.Space(), it.Key(), seq, it.Value(), it.Tombstone())
	}
}

// Rollback ends the block without a trace.
func (b *Block) Rollback() {
	s := b.s
	if b.spilled {
		if err := s.log.Load().Cutback(); err != nil {
			_ = s.fail(err)
		}
	}
	b.end()
}

// maxKeptRecord bounds the buffer kept for the next block.
const maxKeptRecord = 1 << 20

func (b *Block) end() {
	b.Release()
	b.overlay.Reset()
	if cap(b.record) > maxKeptRecord {
		b.record = nil
	}
	if !b.replay {
		b.s.writing.Unlock()
	}
}

// Ticket stands for a committed block.
type Ticket struct {
	From, To uint64 // the numbers it covers; none if To < From
	s        *Store
	log      *logFile
	end      int64
}

// Wait returns once the block is as durable as the policy promises: at once,
// but for SyncAlways.
func (t Ticket) Wait(ctx context.Context) error {
	if t.log == nil || t.s.opts.Sync != SyncAlways {
		return nil
	}
	return t.s.syncTo(ctx, t.log, t.end, t.To)
}
