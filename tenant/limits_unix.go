//go:build unix

package tenant

import (
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
