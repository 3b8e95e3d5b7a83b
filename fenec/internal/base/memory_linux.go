package base

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// memoryFile returns an empty file in memory.
func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("fenec", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), fmt.Sprintf("/proc/self/fd/%d", fd)), nil
}
