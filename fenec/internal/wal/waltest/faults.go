package waltest

import (
	"io/fs"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Kind is what an operation does.
type Kind string

// The kinds of operations a hook sees.
const (
	Open     Kind = "open"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	SyncDir  Kind = "syncdir"
	Read     Kind = "read"
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Allocate Kind = "allocate"
	Sync     Kind = "sync"
)

// Op is an operation that is about to happen.
type Op struct {
	Kind Kind
	Path string // as the file was opened, or the first of two names
	Off  int64  // of Read, Write, Allocate; the size for Truncate
	Len  int64  // of Read, Write, Allocate
	Nth  int    // how many operations of the kind there were, this one included
}

// Fault is what happens instead of an operation.
type Fault struct {
	Err  error // returned to the caller
	Keep int64 // bytes of a write that are made all the same
}

// Hook decides about an operation, beside others on other goroutines. Nil lets
// it happen. A hook may wait; a flush covers what was written before its hook
// was called.
type Hook func(Op) *Fault

// Faults is a file system whose operations pass a hook.
type Faults struct {
	inner wal.FS

	mu     sync.Mutex // guards the fields below
	hook   Hook
	counts map[Kind]int
}

// Inject returns inner with hook before every operation. The hook may be nil.
func Inject(inner wal.FS, hook Hook) *Faults {
	return &Faults{inner: inner, hook: hook, counts: map[Kind]int{}}
}

// SetHook replaces the hook and starts counting anew.
func (f *Faults) SetHook(hook Hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
	clear(f.counts)
}

// Count returns how many operations of a kind there were, failed ones included.
func (f *Faults) Count(kind Kind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[kind]
}

// pass counts op and asks the hook.
func (f *Faults) pass(op Op) *Fault {
	f.mu.Lock()
	f.counts[op.Kind]++
	op.Nth = f.counts[op.Kind]
	hook := f.hook
	f.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(op)
}

// OpenFile opens a file whose operations pass the hook too.
func (f *Faults) OpenFile(path string, flag int, perm fs.FileMode) (wal.File, error) {
	if fault := f.pass(Op{Kind: Open, Path: path}); fault != nil {
		return nil, fault.Err
	}
	inner, err := f.inner.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: inner, faults: f, path: path}, nil
}

// Rename passes the hook.
func (f *Faults) Rename(from, to string) error {
	if fault := f.pass(Op{Kind: Rename, Path: from}); fault != nil {
		return fault.Err
	}
	return f.inner.Rename(from, to)
}

// Remove passes the hook.
func (f *Faults) Remove(path string) error {
	if fault := f.pass(Op{Kind: Remove, Path: path}); fault != nil {
		return fault.Err
	}
	return f.inner.Remove(path)
}

// SyncDir passes the hook.
func (f *Faults) SyncDir(dir string) error {
	if fault := f.pass(Op{Kind: SyncDir, Path: dir}); fault != nil {
		return fault.Err
	}
	return f.inner.SyncDir(dir)
}

// faultyFile is an open file of Faults.
type faultyFile struct {
	wal.File
	faults *Faults
	path   string
}

func (f *faultyFile) ReadAt(b []byte, off int64) (int, error) {
	if fault := f.faults.pass(Op{Kind: Read, Path: f.path, Off: off, Len: int64(len(b))}); fault != nil {
		return 0, fault.Err
	}
	return f.File.ReadAt(b, off)
}

func (f *faultyFile) WriteAt(b []byte, off int64) (int, error) {
	fault := f.faults.pass(Op{Kind: Write, Path: f.path, Off: off, Len: int64(len(b))})
	if fault == nil {
		return f.File.WriteAt(b, off)
	}
	n, err := f.File.WriteAt(b[:min(fault.Keep, int64(len(b)))], off)
	if err == nil {
		err = fault.Err
	}
	return n, err
}

func (f *faultyFile) Truncate(size int64) error {
	if fault := f.faults.pass(Op{Kind: Truncate, Path: f.path, Off: size}); fault != nil {
		return fault.Err
	}
	return f.File.Truncate(size)
}

func (f *faultyFile) Allocate(off, n int64) error {
	if fault := f.faults.pass(Op{Kind: Allocate, Path: f.path, Off: off, Len: n}); fault != nil {
		return fault.Err
	}
	return f.File.Allocate(off, n)
}

func (f *faultyFile) Sync() error {
	end := f.File.Sync
	if mem, ok := f.File.(*memFile); ok {
		var err error
		if end, err = mem.beginSync(); err != nil {
			return err
		}
	}
	if fault := f.faults.pass(Op{Kind: Sync, Path: f.path}); fault != nil {
		return fault.Err
	}
	return end()
}
