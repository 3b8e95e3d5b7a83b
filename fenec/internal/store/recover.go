package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/front"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Open opens the store whose base is at path, making an empty one if there is
// none and Options.MustExist is not set, and brings it to the last block that
// is whole on disk. An empty path opens a store in memory.
func Open(path string, opts Options) (*Store, error) {
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	file, err := openBase(path, &opts)
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, opts: opts, base: file, overlay: front.NewOverlay(),
		writing: newLock(), compacting: newLock(), folding: newLock(),
	}
	s.background.s = s
	s.background.life, s.background.end = context.WithCancel(context.Background())
	s.snapshots.init(s.background.released)
	s.state.Store(&state{live: newLevel(file.Folded())})
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.closeLogsLocked(), file.Close())
	}
	return s, nil
}

func openBase(path string, opts *Options) (*base.File, error) {
	if path == "" {
		return base.OpenMemory()
	}
	f, err := base.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !opts.MustExist {
		if err := base.Create(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		f, err = base.Open(path)
	}
	if err == nil {
		// What a compaction left that was cut short.
		if err := removeIfThere(path + base.CompactingSuffix); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if errors.Is(err, base.ErrInUse) {
		if h, herr := wal.ReadHeader(LogPath(path), wal.Options{FS: opts.FS}); herr == nil {
			return nil, fmt.Errorf("%w: held by process %d", err, h.PID)
		}
	}
	return f, err
}

// removeLogs removes the logs that lie beside path.
func removeLogs(path string, files wal.FS) error {
	for _, name := range []string{OldLogPath(path), LogPath(path)} {
		if err := files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// load lets the owner read the base and replays the logs.
func (s *Store) load() (err error) {
	defer base.Recover(s.path, base.Guard(), &err)
	if err := s.checkMeta(); err != nil {
		return err
	}
	if s.opts.Load != nil {
		v := s.startBlock().View
		err := s.opts.Load(&v)
		v.Release()
		if err != nil {
			return err
		}
	}
	if s.path == "" {
		return nil
	}
	if !s.opts.readOnly {
		if err := s.setForeignAside(); err != nil {
			return err
		}
	}
	r := recovery{s: s, clean: true}
	if err := r.run(); err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	return nil
}

// foreignSuffix is what the name of a log of another base is made to end in.
const foreignSuffix = ".foreign"

// setForeignAside moves a log out of the way that belongs to another base: it
// is never replayed, and never deleted unread either.
func (s *Store) setForeignAside() error {
	for _, name := range []string{OldLogPath(s.path), LogPath(s.path)} {
		h, err := wal.ReadHeader(name, s.walOptions())
		if err != nil || h.Base == s.base.ID() {
			continue // what else is wrong with it, reading it will tell
		}
		if err := s.opts.FS.Rename(name, name+foreignSuffix); err != nil {
			return fmt.Errorf("open %s: set a log of another database aside: %w", s.path, err)
		}
	}
	return nil
}

// recovery is one run over the logs that an open found.
type recovery struct {
	s        *Store
	reserved uint64
	clean    bool
	full     error // why a fold failed, if that was for want of room: no other is tried
}

func (r *recovery) run() error {
	s := r.s
	old, err := r.read(OldLogPath(s.path))
	if err != nil {
		return err
	}
	if s.opts.readOnly {
		return r.readFollowing()
	}
	if old {
		// A checkpoint was cut short: finish it, so that there is one log again.
		if err := r.readFollowing(); err != nil {
			return err
		}
		r.goOn()
		return r.finishCheckpoint()
	}
	if err := r.checkGap(); err != nil {
		return err
	}
	log, found, err := wal.Open(LogPath(s.path), s.base.ID(), s.walOptions(), r.replay)
	if err != nil {
		return err
	}
	if log == nil {
		return nil
	}
	s.log.Store(&logFile{Log: log})
	r.take(found)
	if err := r.mendMeta(); err != nil {
		return err
	}
	r.goOn()
	return nil
}

// checkGap reports a log that goes on after blocks that are nowhere. Nothing of
// it may be replayed.
func (r *recovery) checkGap() error {
	path := LogPath(r.s.path)
	h, err := wal.ReadHeader(path, r.s.walOptions())
	if err == nil && h.After > r.s.base.Folded() {
		return fmt.Errorf("%w: %s goes on after %d, the base ends at %d and no other log is there",
			wal.ErrCorrupt, path, h.After, r.s.base.Folded())
	}
	return nil // whatever else is wrong, opening it tells
}

// read replays the log at path without changing it, and reports whether there
// is one.
func (r *recovery) read(path string) (bool, error) {
	found, err := wal.Read(path, r.s.base.ID(), r.s.walOptions(), r.replay)
	if err != nil {
		return false, err
	}
	if found.Empty {
		return false, nil
	}
	r.take(found)
	return true, nil
}

// readFollowing replays the log that was begun when the old one was turned. If
// the end of the old one was lost, this one cannot be applied: then none of it
// may have been acknowledged as on disk.
func (r *recovery) readFollowing() error {
	path := LogPath(r.s.path)
	h, err := wal.ReadHeader(path, r.s.walOptions())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, wal.ErrEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	if h.After <= r.s.Seq() || h.After <= r.s.base.Folded() {
		_, err := r.read(path)
		return err
	}
	found, err := wal.Inspect(path, r.s.walOptions())
	if err != nil {
		return err
	}
	if found.AnyDurable() {
		return fmt.Errorf("%w: %s goes on after %d, the log before it ends at %d",
			wal.ErrCorrupt, path, h.After, r.s.Seq())
	}
	r.take(found)
	r.clean = false
	return nil
}

func (r *recovery) take(found wal.Recovery) {
	r.reserved = max(r.reserved, found.Reserved)
	r.clean = r.clean && found.Clean
}

// replay makes the changes of one block again, unless the base has them.
func (r *recovery) replay(blk *wal.Block) error {
	s := r.s
	if blk.To < blk.From {
		return r.takeNote(blk)
	}
	if blk.To <= s.base.Folded() {
		return nil
	}
	if err := r.apply(blk); err != nil {
		return fmt.Errorf("replay block %d to %d: %w", blk.From, blk.To, err)
	}
	if s.state.Load().live.front.MemoryBytes() >= s.opts.FrontBytes && !s.opts.readOnly {
		return r.foldIfRoom()
	}
	return nil
}

// foldIfRoom is fold; without room for that the store holds everything in memory, and is
// open for reading only.
func (r *recovery) foldIfRoom() error {
	if r.full != nil {
		return nil
	}
	err := r.fold()
	if outOfRoom(err) {
		r.full = r.s.fail(err)
		return nil
	}
	return err
}

func (r *recovery) apply(blk *wal.Block) error {
	s := r.s
	b := s.startBlock()
	defer b.end()
	b.replay = true
	b.seq, b.time = blk.From-1, time.UnixMilli(blk.UnixMilli)
	for part, err := range blk.Parts() {
		if err != nil {
			return err
		}
		if err := s.opts.Replay(b, part); err != nil {
			return err
		}
	}
	b.apply(blk.To)
	s.state.Load().live.published.Store(blk.To)
	return nil
}

// fold brings what has been replayed so far into the base. The logs stay until
// all of it is there.
func (r *recovery) fold() error {
	s := r.s
	live := s.state.Load().live
	seq := live.published.Load()
	if err := s.foldFront(live.front, seq); err != nil {
		return err
	}
	s.state.Store(&state{live: newLevel(seq)})
	return nil
}

// goOn sets the sequence to go on from: past every number that may have been
// handed out and lost. A store that follows hands out none.
func (r *recovery) goOn() {
	live := r.s.state.Load().live
	if !r.clean && !(r.s.opts.Follows != nil && r.s.opts.Follows()) {
		live.published.Store(max(live.published.Load(), r.reserved))
	}
	r.s.limit = r.reserved
}

func (r *recovery) finishCheckpoint() error {
	r.s.opts.Step("open: fold")
	if err := r.foldIfRoom(); err != nil || r.full != nil {
		return err
	}
	r.s.opts.Step("open: drop logs")
	return removeLogs(r.s.path, r.s.opts.FS)
}

// closeLogsLocked closes the log files: empty ones go, others keep what is not
// folded yet. The folding lock is held.
func (s *Store) closeLogsLocked() error {
	turned := s.turned
	s.turned = nil
	s.writing.Lock()
	log := s.log.Swap(nil)
	s.writing.Unlock()
	if s.failed() != nil {
		for _, l := range []*logFile{turned, log} {
			if l != nil {
				_ = l.Close() // the failure has been reported
			}
		}
		return nil
	}
	// The log in use goes on after the turned one, which must be on disk first.
	if turned != nil {
		if err := turned.CloseClean(); err != nil {
			return errors.Join(err, log.Close())
		}
	}
	switch {
	case log == nil:
		return nil
	case s.base.Folded() >= s.Seq() && !s.notesWait():
		return errors.Join(log.Close(), s.opts.FS.Remove(LogPath(s.path)))
	case log.Last() < s.Seq():
		// Numbers that may have been handed out were lost with the end before this
		// one, and nothing has been written since. Without the mark of a clean
		// close the next open goes on past what is reserved, as this one did.
		return errors.Join(log.Sync(context.Background()), log.Close())
	}
	return log.CloseClean()
}
