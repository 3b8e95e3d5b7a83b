package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/front"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Sync says when a committed block is on disk.
type Sync int

// The sync policies.
const (
	SyncEvery  Sync = iota // within Options.Interval
	SyncAlways             // before Wait returns
	SyncOff                // at a checkpoint or on closing
)

// Options say how a store behaves. Zero fields mean their defaults.
type Options struct {
	Sync            Sync
	Interval        time.Duration // for SyncEvery; default 250 ms
	FrontBytes      int64         // both fronts together, bytes; default 64 MiB
	BlockBytes      int64         // changes of one block, bytes; default 256 MiB
	SnapshotTimeout time.Duration // how long a snapshot may hold up a fold; default 1 minute
	IdleCheckpoint  time.Duration // fold after that long without a write; default 30 s
	CompactRatio    float64       // compact when that share of the file is free and 64 MiB with it; default 0.5, negative never
	NoCheckpoint    bool          // Close leaves the log to be replayed
	MustExist       bool          // Open makes no new file
	Clock           func() time.Time
	FS              wal.FS // of the log; nil is the system's

	// Load, if set, reads what the owner keeps in the base, before any Replay.
	Load func(v *View) error

	// Replay makes the changes of one record of the log again, in b. It is
	// called during Open only.
	Replay func(b *Block, record []byte) error

	// TakeNote is called during Open with each Note of the log, in their order, those
	// that were folded among them.
	TakeNote func(note []byte) error

	// Follows, if set, reports whether the store's sequence is another's, whose blocks
	// it is given: it is asked by an Open after an unclean end, which goes on past what
	// may have been handed out if it is not.
	Follows func() bool

	// Owners take part in every fold.
	Owners []Owner

	// Merger, if set, has the spaces from MergedSpaces on.
	Merger Merger

	// Step, if set, is told the name of every step of a checkpoint, an open
	// and a commit before it is taken. For tests that end the process there.
	Step func(name string)

	readOnly bool // read base and logs, change neither
}

func (o *Options) setDefaults() error {
	setDefault(&o.Interval, 250*time.Millisecond)
	setDefault(&o.FrontBytes, 64<<20)
	setDefault(&o.BlockBytes, 256<<20)
	setDefault(&o.SnapshotTimeout, time.Minute)
	setDefault(&o.IdleCheckpoint, 30*time.Second)
	setDefault(&o.CompactRatio, 0.5)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.FS == nil {
		o.FS = wal.OS
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
	if o.Interval < 0 || o.FrontBytes < 0 || o.BlockBytes < 0 || o.SnapshotTimeout < 0 || o.IdleCheckpoint < 0 {
		return errors.New("store: an option is negative")
	}
	return nil
}

func setDefault[T time.Duration | int64 | float64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// Store is an open store. Its methods are safe for concurrent use.
type Store struct {
	path      string // "" in memory
	opts      Options
	base      *base.File
	state     atomic.Pointer[state]
	snapshots registry
	failure   atomic.Pointer[error]

	writing lock                    // held from Begin to Commit or Rollback; guards the fields below
	log     atomic.Pointer[logFile] // nil until the first write, and in memory; may be read without the lock
	limit   uint64                  // the highest number that may be handed out; 0 in memory or without a log
	overlay *front.Overlay          // its size may be read without the lock
	block   Block                   // the one open block
	closed  bool

	compacting lock // held by a compaction, and taken before folding

	folding lock     // held by a checkpoint, an image, a Fill, and the ends of a compaction
	turned  *logFile // the log of the frozen front; guarded by folding
	room    notifier // told when writers may find room: a front was turned or folded, or none will be
	synced  notifier // told when SyncedSeq may have grown, or never will

	baseMemory atomic.Int64 // see BaseMemory

	noted       atomic.Uint64 // notes appended or found; changed under the write lock
	notesFolded atomic.Uint64 // of those, known to the owners at the last fold

	images     images
	background background
}

// state is what readers merge: immutable, replaced as a whole.
type state struct {
	live   *level
	frozen *level // what a checkpoint is folding, or nil
}

// level is one front with the highest sequence readers may see in it.
type level struct {
	front     *front.Front
	published atomic.Uint64
}

func newLevel(seq uint64) *level {
	l := &level{front: front.New()}
	l.published.Store(seq)
	return l
}

// Path returns the base's path, "" in memory.
func (s *Store) Path() string { return s.path }

// Seq returns the sequence of the last committed block.
func (s *Store) Seq() uint64 { return s.state.Load().live.published.Load() }

// WaitWriter returns once the block has ended that was open when it was called.
func (s *Store) WaitWriter(ctx context.Context) error {
	if err := s.writing.LockBefore(ctx); err != nil {
		return err
	}
	defer s.writing.Unlock()
	if s.closed {
		return ErrClosed
	}
	return nil
}

// Snapshot opens a snapshot of everything committed so far.
func (s *Store) Snapshot() (*Snapshot, error) {
	sn := new(Snapshot)
	if err := s.snapshots.open(s, sn); err != nil {
		return nil, err
	}
	return sn, nil
}

// Close ends every snapshot, folds what the log holds (unless NoCheckpoint)
// and closes the files. It waits for an open block. Closing again does
// nothing.
func (s *Store) Close() error { return s.close(!s.opts.NoCheckpoint) }

// CloseUnfolded is Close with NoCheckpoint.
func (s *Store) CloseUnfolded() error { return s.close(false) }

func (s *Store) close(fold bool) error {
	s.writing.Lock()
	if s.closed {
		s.writing.Unlock()
		return nil
	}
	s.closed = true
	s.writing.Unlock()
	s.room.tell() // whoever waits for it waits no more

	s.snapshots.close(ErrClosed)
	s.background.stop()
	s.folding.Lock()
	defer s.folding.Unlock()
	s.images.setAside(0)
	var errs []error
	if fold && s.path != "" && !s.opts.readOnly && s.failed() == nil {
		errs = append(errs, s.foldAllLocked())
	}
	errs = append(errs, s.closeLogsLocked(), s.base.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// Base returns a transaction that reads the base as it is: what its Owner keeps
// there, and everything folded. Release it soon.
func (s *Store) Base() (*base.Tx, error) {
	tx, err := s.base.Acquire()
	return tx, s.closedOr(err)
}

// FrontBytes returns how much memory fronts and the open block hold.
func (s *Store) FrontBytes() int64 {
	st := s.state.Load()
	n := st.live.front.MemoryBytes() + s.overlay.MemoryBytes()
	if st.frozen != nil {
		n += st.frozen.front.MemoryBytes()
	}
	return n
}

// BaseMemory returns how much memory the base takes up, as of the last fold; 0 for
// one on disk.
func (s *Store) BaseMemory() int64 { return s.baseMemory.Load() }

// Stats are figures that cost next to nothing to read.
type Stats struct {
	Seq         uint64 // of the last committed block
	SyncedSeq   uint64 // up to which everything is on disk
	FoldedSeq   uint64 // up to which everything is in the base
	BaseBytes   int64  // length of the base
	LogBytes    int64  // length of the logs, space allocated ahead included
	FreeBytes   int64  // free pages of the base
	FrontBytes  int64  // memory held by fronts and the open block
	Compactions uint64 // since the open, AutoCompactions included
	Failure     error  // why writes are refused, or nil

	AutoCompactions uint64 // that the store began by itself
}

// Stats returns the figures of the moment.
func (s *Store) Stats() Stats {
	st := s.state.Load()
	out := Stats{
		Seq:         st.live.published.Load(),
		FoldedSeq:   s.base.Folded(),
		BaseBytes:   s.base.Size(),
		FreeBytes:   s.base.FreeBytes(),
		FrontBytes:  s.FrontBytes(),
		Compactions: s.background.compactions.Load(),
		Failure:     s.failed(),

		AutoCompactions: s.background.autoCompactions.Load(),
	}
	out.LogBytes = s.logBytes()
	out.SyncedSeq = s.SyncedSeq()
	return out
}

// logBytes returns the length of both log files as they lie on disk.
func (s *Store) logBytes() (total int64) {
	if s.path == "" {
		return 0
	}
	for _, name := range []string{LogPath(s.path), OldLogPath(s.path)} {
		if info, err := os.Stat(name); err == nil {
			total += info.Size()
		}
	}
	return total
}

// Checkpoint folds what every open snapshot has already seen and drops the
// log of what it folded.
func (s *Store) Checkpoint(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.folding.Lock()
	defer s.folding.Unlock()
	if err := s.openAndWell(); err != nil {
		return err
	}
	return s.foldSeenLocked()
}
