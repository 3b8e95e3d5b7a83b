package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// ownMemory returns the bytes of memory that are this process's own and of no
// file, after what the collector keeps for later was given back.
func ownMemory() int64 {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}
