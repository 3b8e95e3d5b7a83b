package wal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Options are the settings of a log. The zero value is good.
type Options struct {
	// FS is where the file lives. Nil means OS.
	FS FS

	// Lazy leaves it to the first flush to make the file's creation
	// durable, and lets Open trust what it read without a flush. It is for
	// databases that promise nothing before a clean close.
	Lazy bool

	// Flushed, if set, is called after every flush that brought blocks to disk,
	// once Durable and DurableSeq say so. It must not block.
	Flushed func()
}

func (o Options) fs() FS {
	if o.FS == nil {
		return OS
	}
	return o.FS
}

// Log is one log file, open for appending.
//
// Append, AppendPart, Cutback, CloseClean and Close belong to one writer at a
// time, whose lock the caller holds. The other methods are safe for concurrent
// use, also beside the writer.
//
// Lock order: hmu, then mu. both is held alone.
type Log struct {
	fs   FS
	file File
	told func()  // Options.Flushed, or nil
	id   [8]byte // random; goes into every checksum
	path atomic.Pointer[string]

	// What the writer alone reads and changes.
	tail    int64  // where the next frame goes
	alloc   int64  // size of the file; zeros from tail on
	noAhead bool   // the file cannot be allocated ahead
	link    uint32 // header checksum of the last frame
	endLink uint32 // the same, at end
	parting bool   // a block's first parts lie between end and tail
	from    uint64 // first sequence of that block

	// Invariant: durable <= end <= tail, and each is an end of a frame.
	both sync.Mutex    // held to change end and last, or to read what belongs together
	end  atomic.Int64  // end of the last complete block
	last atomic.Uint64 // its last sequence
	size atomic.Int64  // of the file

	// changes counts what was written outside of frames: headers, and ends
	// moved back.
	changes atomic.Uint64

	// durableSeq is stored first, so that whoever sees its block in durable
	// sees it in durableSeq too.
	durableSeq atomic.Uint64 // the last sequence that is on disk
	durable    atomic.Int64  // complete blocks up to here are on disk
	flushed    atomic.Uint64 // changes that are on disk

	// refused is why writes are refused, or nil. It is set once.
	refused atomic.Pointer[error]

	mu       sync.Mutex    // guards the fields below; never held across disk waits
	running  chan struct{} // closed when the flush under way ends; nil when there is none
	waiting  int           // how many have waited for the flush under way or, between two, for the last
	flushErr error         // why flushes are refused
	closed   atomic.Bool   // set with mu held

	// nameless says that the file's name may not be on disk. Only whoever
	// runs a flush touches it once the log is open.
	nameless bool

	hmu  sync.Mutex // guards the fields below; held across flushes, for headers change rarely
	head Header     // as last written
	slot int        // the slot that is on disk; written again only when the other one is

	// What head says, for readers without the lock.
	reserved atomic.Uint64
	clean    atomic.Bool
}

// Create makes a new log at path, taking Base, After and Reserved from h.
// Unless opts.Lazy is set, file and name are on disk when it returns. A file
// that an interrupted Create left there is overwritten; any other gives an
// error matching fs.ErrExist.
func Create(path string, h Header, opts Options) (*Log, error) {
	f, err := opts.fs().OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l, err := create(f, path, h, opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: create log: %w", path, err), f.Close())
	}
	if !opts.Lazy {
		if err := l.barrier(); err != nil {
			return nil, errors.Join(fmt.Errorf("create log: %w", err), l.Close(), l.fs.Remove(path))
		}
	}
	return l, nil
}

// Establish makes the log's creation durable, if it was created with Lazy and
// no flush has come since, and with it all that was written before the call.
func (l *Log) Establish() error { return l.barrier() }

func create(f File, path string, h Header, opts Options) (*Log, error) {
	r, err := newReader(f, path)
	if err != nil {
		return nil, err
	}
	switch empty, err := r.readHeader(); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", fs.ErrExist, err)
	case !empty:
		return nil, fs.ErrExist
	}
	if r.size > 0 {
		if err := f.Truncate(0); err != nil {
			return nil, err
		}
	}
	h = Header{Base: h.Base, After: h.After, Reserved: h.Reserved, PID: os.Getpid(), generation: 1}
	if _, err := rand.Read(h.Log[:]); err != nil {
		return nil, err
	}
	b := make([]byte, headerBytes)
	copy(b, h.encode())
	copy(b[slotStride:], h.encode())
	if _, err := f.WriteAt(b, 0); err != nil {
		return nil, err
	}
	l := newLog(f, path, h, 0, opts)
	l.position(headerBytes, headerBytes, 0, h.After)
	l.nameless = true
	return l, nil
}

func newLog(f File, path string, h Header, slot int, opts Options) *Log {
	l := &Log{fs: opts.fs(), file: f, id: h.Log, head: h, slot: slot, told: opts.Flushed}
	l.path.Store(&path)
	l.reserved.Store(h.Reserved)
	l.clean.Store(h.Clean)
	l.durableSeq.Store(h.After)
	return l
}

// position sets where appending goes on: after the block that ends at end with
// sequence last, in a file of size bytes.
func (l *Log) position(end, size int64, link uint32, last uint64) {
	l.tail, l.alloc = end, size
	l.link, l.endLink = link, link
	l.complete(end, last)
	l.size.Store(size)
}

// complete moves the end of the last complete block.
func (l *Log) complete(end int64, last uint64) {
	l.both.Lock()
	l.end.Store(end)
	l.last.Store(last)
	l.both.Unlock()
}

// completed returns the end of the last complete block and its last sequence.
func (l *Log) completed() (end int64, last uint64) {
	l.both.Lock()
	defer l.both.Unlock()
	return l.end.Load(), l.last.Load()
}

// Path returns where the file is.
func (l *Log) Path() string { return *l.path.Load() }

// Rename moves the file. The new name is on disk once the directory has been
// flushed, as the Create of the log that takes its place does.
func (l *Log) Rename(to string) error {
	if err := l.fs.Rename(l.Path(), to); err != nil {
		return err
	}
	l.path.Store(&to)
	return nil
}

// End returns the offset at which the last complete block ends.
func (l *Log) End() int64 { return l.end.Load() }

// Last returns the last sequence in the log, or what Header.After says while
// it has no block.
func (l *Log) Last() uint64 { return l.last.Load() }

// Durable returns the offset up to which the log is known to be on disk.
func (l *Log) Durable() int64 { return l.durable.Load() }

// DurableSeq returns the last sequence that is known to be on disk.
func (l *Log) DurableSeq() uint64 { return l.durableSeq.Load() }

// Reserved returns the reservation: see Reserve.
func (l *Log) Reserved() uint64 { return l.reserved.Load() }

// Size returns the bytes the file takes, allocated ones included.
func (l *Log) Size() int64 { return l.size.Load() }

// Err returns why writes are refused, an error matching ErrFailed, or nil.
func (l *Log) Err() error {
	if err := l.refused.Load(); err != nil {
		return *err
	}
	return nil
}

// refuse makes every later write fail with cause, unless one failed already,
// and returns the error that they fail with.
func (l *Log) refuse(cause error) error {
	err := fmt.Errorf("%s: %w: %w", l.Path(), ErrFailed, cause)
	l.refused.CompareAndSwap(nil, &err)
	return l.Err()
}

// writable returns why nothing can be written, or nil.
func (l *Log) writable() error {
	if err := l.Err(); err != nil {
		return err
	}
	if l.closed.Load() {
		return ErrClosed
	}
	return nil
}

// Close closes the file as it is, without the mark of a clean close and
// without a flush. It waits for a flush under way; goroutines that wait for
// another get ErrClosed. Closing again does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	running := l.running
	again := l.closed.Swap(true)
	l.mu.Unlock()
	if again {
		return nil
	}
	if running != nil {
		<-running
	}
	return l.file.Close()
}

// CloseClean brings everything to disk, gives back allocated space, marks the
// log as cleanly closed and closes it. Parts of an unfinished block are
// dropped. After an error the log is closed all the same, without the mark.
func (l *Log) CloseClean() error {
	if l.closed.Load() {
		return nil
	}
	return errors.Join(l.markClean(), l.Close())
}

// markClean takes two flushes unless the first has nothing to do: the mark
// says that everything is on disk, so it must not get there before the rest.
func (l *Log) markClean() error {
	if err := l.writable(); err != nil {
		return err
	}
	if err := l.Cutback(); err != nil {
		return err
	}
	if l.clean.Load() {
		return nil
	}
	if err := l.Sync(context.Background()); err != nil {
		return err
	}
	if l.alloc > l.tail {
		if err := l.truncate(l.tail); err != nil {
			return l.refuse(err)
		}
	}
	return l.setHeader(func(h *Header) { h.Clean = true })
}

// dir returns the directory the file is in.
func (l *Log) dir() string { return filepath.Dir(l.Path()) }
