package store

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// LogPath returns the path of the log of the base at path.
func LogPath(path string) string { return path + "-log" }

// OldLogPath returns the path of the log whose blocks a checkpoint is folding.
func OldLogPath(path string) string { return path + "-log.old" }

// reserveStep is how many sequence numbers one durable reservation covers.
const reserveStep = 1 << 20

// logFile is a log with the one it took over from: what a block in this log
// promises holds only if everything before it is on disk too.
type logFile struct {
	*wal.Log
	before atomic.Pointer[logFile] // nil once folded
}

func (s *Store) walOptions() wal.Options {
	return wal.Options{FS: s.opts.FS, Lazy: s.opts.Sync == SyncOff, Flushed: s.synced.tell}
}

// ensureLog makes sure that there is a log and that sequence numbers up to and
// including upTo are reserved durably. The write lock is held.
func (s *Store) ensureLog(upTo uint64) error {
	log := s.log.Load()
	if log == nil {
		s.opts.Step("create log")
		var err error
		log, err = s.createLog(s.Seq(), max(s.limit, upTo+reserveStep), false)
		if path := new(fs.PathError); errors.As(err, &path) && path.Op == "open" {
			return err // nothing was written, for want of descriptors as a rule
		}
		if err != nil {
			return s.fail(err)
		}
		s.log.Store(log)
		s.limit = log.Reserved()
	}
	if upTo > s.limit {
		return s.reserve(log, upTo+reserveStep)
	}
	return nil
}

// reserve raises the limit to upTo. It flushes the log, so what that goes on
// after must be on disk first.
func (s *Store) reserve(log *logFile, upTo uint64) error {
	s.opts.Step("reserve")
	if before := log.before.Load(); before != nil {
		if err := s.syncTo(context.Background(), before, before.End(), before.Last()); err != nil {
			return err
		}
	}
	if err := log.Reserve(upTo); err != nil {
		return s.fail(err)
	}
	s.limit = log.Reserved()
	return nil
}

// createLog makes a log that goes on after seq. Numbers are handed out only
// under a reservation that is on disk, whatever the policy for blocks: the log
// may be made lazily if another has that reservation.
func (s *Store) createLog(seq, reserved uint64, lazy bool) (*logFile, error) {
	opts := s.walOptions()
	opts.Lazy = lazy
	log, err := wal.Create(LogPath(s.path), wal.Header{Base: s.base.ID(), After: seq, Reserved: reserved}, opts)
	if err != nil {
		return nil, err
	}
	return &logFile{Log: log}, nil
}

// syncTo returns once log is on disk up to end, and every log before it. seq
// is the last sequence before end: once the base holds it, the log need not.
func (s *Store) syncTo(ctx context.Context, log *logFile, end int64, seq uint64) error {
	if before := log.before.Load(); before != nil {
		if err := s.syncTo(ctx, before, before.End(), before.Last()); err != nil {
			return err
		}
	}
	err := log.SyncTo(ctx, end)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, wal.ErrClosed) && s.base.Folded() >= seq:
		return nil
	case errors.Is(err, wal.ErrClosed):
		return ErrClosed
	}
	return s.fail(err)
}

// Sync returns once every block committed before the call is on disk.
func (s *Store) Sync(ctx context.Context) error {
	if err := s.writing.LockBefore(ctx); err != nil {
		return err
	}
	log, err := s.log.Load(), s.writable()
	var end int64
	var seq uint64
	if log != nil {
		end, seq = log.End(), log.Last()
	}
	s.writing.Unlock()
	if err != nil || log == nil {
		return err
	}
	return s.syncTo(ctx, log, end, seq)
}

// dropped is the space that lists, by number, the spaces to be dropped by the
// fold. It is never read, and never reaches the base.
const dropped = ^uint32(0)

func spaceKey(space uint32) []byte { return binary.BigEndian.AppendUint32(nil, space) }
