package main

import (
	"fmt"
	"os"
	"strings"
)

// residentMemory returns the bytes of memory that this process takes up.
func residentMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kib int64
	_, err = fmt.Sscan(rest, &kib)
	return kib << 10, err
}
