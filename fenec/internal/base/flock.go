//go:build !windows && !plan9 && !solaris && !aix && !android

package base

import (
	"errors"
	"os"

	berrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

// lazily says that files are opened for reading first, and for writing when they
// are written. It takes bbolt's locks to be of flock, which belong to all
// descriptors that have been duplicated from one, and room for two maps of a
// file.
const lazily = ^uint(0)>>32 != 0

// lock locks the file of f against everybody else. In place of the lock that
// bbolt has taken through f there is this one then, or none if it fails.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return berrors.ErrTimeout
	}
	return err
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// share returns another descriptor of what f has open, its lock included.
func share(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
