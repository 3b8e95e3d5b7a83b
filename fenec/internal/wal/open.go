package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Recovery is what reading a log found.
type Recovery struct {
	// Header is the log's header as it was found.
	Header Header

	// Empty says that there is no log: no file, or one whose creation was
	// interrupted. All else is zero then.
	Empty bool

	// Last is the last sequence in the log, or Header.After without blocks.
	Last uint64

	// Reserved is the reservation. Unless Clean, numbers up to it may have
	// been handed out, and the next one is above both it and Last.
	Reserved uint64

	// Clean says that CloseClean was the last thing that happened: numbers
	// go on after Last.
	Clean bool

	// Frames and Blocks count what was read.
	Frames, Blocks int

	// End is the offset at which the last complete block ends.
	End int64

	// Cut counts the bytes behind End that are part of no complete block.
	// Open has removed them.
	Cut int64

	// Durable is how far the log was known to be on disk, by what it says
	// itself. Damage before it is an error and never cut.
	Durable int64
}

// AnyDurable reports whether some block of the log was known to be on disk.
func (r Recovery) AnyDurable() bool { return r.Durable > headerBytes }

// Open reads the log at path, hands each complete block to fn in order, cuts
// off a torn tail and returns the log ready for more. What fn was given is on
// disk then, unless opts.Lazy is set. Blocks, their payloads and parts are
// valid only until fn returns; when fn fails, so does Open, and the file stays
// as it was.
//
// When there is no log, Open returns nil and a Recovery that is Empty; Create
// can make one there.
//
// Errors: a CorruptError for damage in what was on disk, ErrForeign for the log
// of a base other than base, ErrVersion.
func Open(path string, base [16]byte, opts Options, fn func(*Block) error) (*Log, Recovery, error) {
	r, err := openReader(path, os.O_RDWR, opts)
	if r == nil {
		return nil, Recovery{Empty: err == nil}, err
	}
	rec, err := r.read(&base, fn)
	if err != nil || rec.Empty {
		return nil, rec, errors.Join(err, r.file.Close())
	}
	l, err := r.resume(opts)
	if err != nil {
		return nil, rec, errors.Join(err, r.file.Close())
	}
	return l, rec, nil
}

// Read is Open for a log that is not to be written: it changes nothing and
// cuts off nothing.
func Read(path string, base [16]byte, opts Options, fn func(*Block) error) (Recovery, error) {
	r, err := openReader(path, os.O_RDONLY, opts)
	if r == nil {
		return Recovery{Empty: err == nil}, err
	}
	rec, err := r.read(&base, fn)
	return rec, errors.Join(err, r.file.Close())
}

// Inspect checks every byte of the log at path, whatever its base, and changes
// nothing.
func Inspect(path string, opts Options) (Recovery, error) {
	r, err := openReader(path, os.O_RDONLY, opts)
	if r == nil {
		return Recovery{Empty: err == nil}, err
	}
	rec, err := r.read(nil, nil)
	return rec, errors.Join(err, r.file.Close())
}

// ReadHeader returns the header of the log at path, which another process may
// have open. A missing file gives an error matching fs.ErrNotExist, one that
// never had a header ErrEmpty.
func ReadHeader(path string, opts Options) (Header, error) {
	f, err := opts.fs().OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return Header{}, err
	}
	h, err := readHeader(f, path)
	return h, errors.Join(err, f.Close())
}

func readHeader(f File, path string) (Header, error) {
	r, err := newReader(f, path)
	if err != nil {
		return Header{}, err
	}
	empty, err := r.readHeader()
	if err == nil && empty {
		err = fmt.Errorf("%s: %w", path, ErrEmpty)
	}
	return r.head, err
}

// openReader returns nil and no error for a file that does not exist.
func openReader(path string, flag int, opts Options) (*reader, error) {
	f, err := opts.fs().OpenFile(path, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := newReader(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// read reads the whole file. A base of nil stands for any.
func (r *reader) read(base *[16]byte, fn func(*Block) error) (Recovery, error) {
	r.fn = fn
	empty, err := r.readHeader()
	if err != nil || empty {
		return Recovery{Empty: err == nil}, err
	}
	if base != nil && r.head.Base != *base {
		return Recovery{Header: r.head}, fmt.Errorf("%s: %w: %x instead of %x", r.path, ErrForeign, r.head.Base, *base)
	}
	err = r.readFrames()
	return r.rec, err
}

// resume turns a reader that has reached the end into a log.
func (r *reader) resume(opts Options) (*Log, error) {
	l := newLog(r.file, r.path, r.head, r.slot, opts)
	l.position(r.rec.End, r.size, r.endLink, r.rec.Last)
	l.durable.Store(r.rec.Durable)
	if r.rec.Durable == r.rec.End {
		l.durableSeq.Store(r.rec.Last)
	}
	if r.rec.Clean {
		return l, l.claim()
	}
	l.nameless = true
	if r.rec.Cut > 0 {
		if err := l.truncate(r.rec.End); err != nil {
			return nil, err
		}
	}
	if err := l.claim(); err != nil {
		return nil, err
	}
	// A cut has to be on disk before anything is written in its place. And
	// what was read may be in memory only, if a process was killed: it has to
	// be on disk before anybody sees it.
	if r.rec.Cut > 0 || !opts.Lazy {
		return l, l.barrier()
	}
	return l, nil
}
