package base

import (
	"context"
	"testing"
)

// SetMapAhead changes how far maps reach, until the test ends.
func SetMapAhead(t *testing.T, n int64) {
	old := mapAhead
	mapAhead = n
	t.Cleanup(func() { mapAhead = old })
}

// Compact compacts the file with nothing folded meanwhile.
func (f *File) Compact() error {
	c, err := f.BeginCompaction()
	if err != nil {
		return err
	}
	if err := c.Copy(context.Background()); err != nil {
		c.Cancel()
		return err
	}
	return c.Install()
}

// Lazily says whether files are opened for reading first.
const Lazily = lazily

// ErrLockLost is returned when a file's lock has been somebody else's.
var ErrLockLost = errLockLost

// GiveUpLock leaves the file to others.
func (f *File) GiveUpLock() error { return unlock(f.gen.file) }

// RetakeLock gives the lock up, calls meanwhile, and takes it again.
func (f *File) RetakeLock(meanwhile func()) error {
	before, err := newestMeta(f.gen.file)
	if err != nil {
		return err
	}
	if err := f.GiveUpLock(); err != nil {
		return err
	}
	meanwhile()
	return f.gen.retakeLock(before)
}

// FreelistPage returns where the file has its list of free pages.
func (f *File) FreelistPage() (offset int64, err error) {
	m, err := newestMeta(f.gen.file)
	return int64(m.freelist * m.pageSize), err
}

// AwaitReaders waits for those who read what has been replaced.
func (f *File) AwaitReaders() { f.closing.Wait() }
