package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// startFlush asks the system to begin to bring a part of a file to disk. What cannot be
// written a later flush tells.
func startFlush(f *os.File, from, length int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, length, unix.SYNC_FILE_RANGE_WRITE)
}
