//go:build unix

package tenant

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// processLimits returns how many files the process may have open and how many
// memory maps it may have.
func processLimits() (files, maps int64) {
	files, maps = 1024, 65530 // what systems give where they do not say
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		files = int64(min(uint64(limit.Cur), 1<<30))
	}
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return files, maps
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
		maps = n
	}
	return files, maps
}

// filesSpare is how many descriptors a process has left, at least, when a database is
// opened: those that are open already may need one for a log, and writes must not fail
// for want of it.
const filesSpare = 64

// filesLeft returns an error that is exhausted if hardly any descriptors are left. It is
// rough: the lowest that is free tells how many are taken at least.
func filesLeft() error {
	fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	if err := syscall.Close(fd); err != nil {
		return os.NewSyscallError("close", err)
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	files := uint64(limit.Cur)
	if uint64(fd)+min(filesSpare, files/8) < files {
		return nil
	}
	return fmt.Errorf("%d of %d descriptors are taken: %w", fd, files, syscall.EMFILE)
}
