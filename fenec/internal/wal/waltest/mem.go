// Package waltest has file systems for testing what is built on package wal:
// Mem, which lives in memory and can lose what was not flushed as a machine
// that loses power does, and Faults, which makes the operations of another file
// system fail, stop short or wait.
package waltest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// SectorBytes is what a disk writes as a whole or not at all.
const SectorBytes = 512

// Mem is a file system in memory that knows what a crash would leave of it. Its
// files may be read and written concurrently. Directories exist as soon as they
// are named.
type Mem struct {
	mu      sync.Mutex       // guards the fields below and all files
	names   map[string]*data // as processes see them
	durable map[string]*data // as a crash leaves them
	pending []rename         // from durable to names, in order
}

// rename is a change to a name: file becomes nil when the name goes away.
type rename struct {
	path string
	file *data
	gone string // the other name of the file, which goes away, or ""
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	return &Mem{names: map[string]*data{}, durable: map[string]*data{}}
}

// OpenFile opens path. Of the flags it knows those of os for access, creation,
// exclusion and truncation.
func (m *Mem) OpenFile(path string, flag int, _ fs.FileMode) (wal.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.names[path]
	switch {
	case d == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case d != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	case d == nil:
		d = &data{}
		m.names[path] = d
		m.pending = append(m.pending, rename{path: path, file: d})
	}
	if flag&os.O_TRUNC != 0 {
		d.change(change{size: 0})
	}
	return &memFile{mem: m, data: d, readOnly: flag&(os.O_RDWR|os.O_WRONLY) == 0}, nil
}

// Rename gives the file at from the name to, in place of a file there.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.names[from]
	if d == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	r := rename{path: to, file: d, gone: from}
	m.pending = append(m.pending, r)
	r.apply(m.names)
	return nil
}

// Remove takes away a name. Open files stay usable.
func (m *Mem) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[path] == nil {
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	r := rename{path: path}
	m.pending = append(m.pending, r)
	r.apply(m.names)
	return nil
}

// SyncDir makes the names in dir durable.
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = slices.DeleteFunc(m.pending, func(r rename) bool {
		in := filepath.Dir(r.path) == filepath.Clean(dir)
		if in {
			r.apply(m.durable)
		}
		return in
	})
	return nil
}

// Names returns the files there are, sorted.
func (m *Mem) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.names))
}

// ReadFile returns the bytes of a file.
func (m *Mem) ReadFile(path string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.names[path]
	if d == nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return slices.Clone(d.now), nil
}

// WriteFile puts a file in place, durably.
func (m *Mem) WriteFile(path string, b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := &data{now: slices.Clone(b), disk: slices.Clone(b)}
	m.names[path], m.durable[path] = d, d
	m.pending = slices.DeleteFunc(m.pending, func(r rename) bool { return r.path == path || r.gone == path })
}

// Clone returns a copy as the end of a process leaves it: nothing is lost.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Mem{pending: slices.Clone(m.pending)}
	copies := map[*data]*data{}
	c.names = copyNames(m.names, copies)
	c.durable = copyNames(m.durable, copies)
	for i := range c.pending {
		c.pending[i].file = copyData(c.pending[i].file, copies)
	}
	return c
}

// Crash returns a copy as a loss of power leaves it. Without rng nothing is
// there that was not flushed. With it, some random beginning of the changes to
// names and, for each file and each sector by itself, the state after some
// random beginning of the changes to it.
func (m *Mem) Crash(rng *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := maps.Clone(m.durable)
	if rng != nil {
		for _, r := range m.pending[:rng.IntN(len(m.pending)+1)] {
			r.apply(names)
		}
	}
	c := NewMem()
	for _, path := range slices.Sorted(maps.Keys(names)) {
		b := names[path].crash(rng)
		d := &data{now: b, disk: slices.Clone(b)}
		c.names[path], c.durable[path] = d, d
	}
	return c
}

func (r rename) apply(names map[string]*data) {
	if r.gone != "" && r.gone != r.path {
		delete(names, r.gone)
	}
	if r.file == nil {
		delete(names, r.path)
	} else {
		names[r.path] = r.file
	}
}

func copyNames(names map[string]*data, copies map[*data]*data) map[string]*data {
	c := make(map[string]*data, len(names))
	for path, d := range names {
		c[path] = copyData(d, copies)
	}
	return c
}

func copyData(d *data, copies map[*data]*data) *data {
	if d == nil {
		return nil
	}
	if copies[d] == nil {
		copies[d] = &data{now: slices.Clone(d.now), disk: slices.Clone(d.disk), unsynced: slices.Clone(d.unsynced)}
	}
	return copies[d]
}

// memFile is an open file of Mem.
type memFile struct {
	mem      *Mem
	data     *data
	readOnly bool
	closed   bool
}

var errReadOnly = errors.New("file is open for reading only")

// lock takes the file system's lock for an operation on the file.
func (f *memFile) lock(write bool) error {
	f.mem.mu.Lock()
	var err error
	switch {
	case f.closed:
		err = fs.ErrClosed
	case write && f.readOnly:
		err = errReadOnly
	}
	if err != nil {
		f.mem.mu.Unlock()
	}
	return err
}

func (f *memFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.lock(false); err != nil {
		return 0, err
	}
	defer f.mem.mu.Unlock()
	if off >= int64(len(f.data.now)) {
		return 0, io.EOF
	}
	n := copy(b, f.data.now[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.lock(true); err != nil {
		return 0, err
	}
	defer f.mem.mu.Unlock()
	if len(b) > 0 {
		f.data.change(change{off: off, written: slices.Clone(b)})
	}
	return len(b), nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.lock(true); err != nil {
		return err
	}
	defer f.mem.mu.Unlock()
	f.data.change(change{size: size})
	return nil
}

func (f *memFile) Allocate(off, n int64) error {
	if err := f.lock(true); err != nil {
		return err
	}
	defer f.mem.mu.Unlock()
	if size := off + n; size > int64(len(f.data.now)) {
		f.data.change(change{size: size})
	}
	return nil
}

func (f *memFile) Sync() error {
	end, err := f.beginSync()
	if err != nil {
		return err
	}
	return end()
}

// beginSync starts a flush, which covers what is written by now, and returns
// what ends it.
func (f *memFile) beginSync() (end func() error, err error) {
	if err := f.lock(false); err != nil {
		return nil, err
	}
	defer f.mem.mu.Unlock()
	d := f.data
	upTo := d.synced + len(d.unsynced)
	return func() error {
		f.mem.mu.Lock()
		defer f.mem.mu.Unlock()
		d.sync(upTo)
		return nil
	}, nil
}

func (f *memFile) Size() (int64, error) {
	if err := f.lock(false); err != nil {
		return 0, err
	}
	defer f.mem.mu.Unlock()
	return int64(len(f.data.now)), nil
}

func (f *memFile) Close() error {
	if err := f.lock(false); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	defer f.mem.mu.Unlock()
	f.closed = true
	return nil
}
