package wal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Sync leaves out what only describes the file, such as its times: most
// flushes of an allocated log then need no journal commit of the size.
func (f *osFile) Sync() error {
	return f.control("fdatasync", unix.Fdatasync)
}

func (f *osFile) Allocate(off, n int64) error {
	err := f.control("fallocate", func(fd int) error { return unix.Fallocate(fd, 0, off, n) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

// control runs a system call on the descriptor, again when a signal
// interrupted it, and keeps the descriptor from being closed meanwhile.
func (f *osFile) control(op string, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = call(int(fd)); failed != unix.EINTR {
				return
			}
		}
	})
	if err == nil && failed != nil {
		err = &os.PathError{Op: op, Path: f.Name(), Err: failed}
	}
	return err
}
