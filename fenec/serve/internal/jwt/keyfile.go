package jwt

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// between is the time from one look at the key file to the next.
	between = time.Second

	// settled is how long ago a file must have been written for its time of
	// modification to tell it from a later one. Before, it is read at every look:
	// somebody may still be writing it.
	settled = 2 * time.Second

	maxKeyFile = 1 << 20 // bytes
)

// keyFile is a file of keys, as it was when it was last looked at.
type keyFile struct {
	path string

	next atomic.Int64 // when it is looked at next, in nanoseconds since 1970

	mu      sync.Mutex // held by the one that looks, until the keys serve; guards the fields below
	stamp   stamp      // of the file that was read last; zero to read it again
	text    []byte     // what it held
	problem string     // what was wrong with it, "" for nothing
}

// stamp tells versions of a file apart.
type stamp struct {
	modified time.Time
	size     int64
}

// due reports whether it is time to look at the file, to one caller each time.
func (f *keyFile) due(now time.Time) bool {
	next, at := f.next.Load(), now.UnixNano()
	early := next - int64(between) // a clock that was set back does not stop the looks
	return (at >= next || at < early) && f.next.CompareAndSwap(next, at+int64(between))
}

// readLocked returns the keys if there are others than the last time, else nil. What
// it fails with again and again is returned once.
func (f *keyFile) readLocked(now time.Time) (*keySet, error) {
	set, err := f.changedLocked(now)
	if err == nil {
		f.problem = ""
		return set, nil
	}
	f.stamp = stamp{}
	if err.Error() == f.problem {
		return nil, nil
	}
	f.problem = err.Error()
	return nil, err
}

func (f *keyFile) changedLocked(now time.Time) (*keySet, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	seen := stamp{info.ModTime(), info.Size()}
	if seen == f.stamp {
		return nil, nil
	}
	text, err := readKeyFile(f.path)
	if err != nil {
		return nil, err
	}
	var set *keySet
	if f.text == nil || !bytes.Equal(text, f.text) {
		if set, err = parseKeySet(text); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		f.text = text
	}
	f.stamp = stamp{}
	if now.Sub(seen.modified) > settled {
		f.stamp = seen
	}
	return set, nil
}

func readKeyFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("%s: more than %d bytes", path, maxKeyFile)
	}
	return text, nil
}
