package wal

import (
	"io"
	"io/fs"
)

// File is what a log needs of an open file. ReadAt and WriteAt follow
// io.ReaderAt and io.WriterAt; Sync may be called beside any other method.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer

	// Truncate changes the file's size; bytes past its old end are zeros.
	Truncate(size int64) error

	// Allocate makes the file at least off+n bytes long and its storage in
	// [off, off+n) ready, the new bytes being zeros. It returns
	// errors.ErrUnsupported where there is no cheap way to do so.
	Allocate(off, n int64) error

	// Sync makes data and size durable (fdatasync).
	Sync() error

	Size() (int64, error)
}

// FS is where logs live. The zero Options use the operating system's files;
// tests put faults behind this interface.
type FS interface {
	// OpenFile opens path with the flags of os.OpenFile. A missing file
	// gives an error matching fs.ErrNotExist.
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(path string) error

	// SyncDir makes the names in dir durable.
	SyncDir(dir string) error
}

// OS is the operating system's files.
var OS FS = osFS{}
