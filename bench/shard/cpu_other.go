//go:build !linux

package main

import (
	"errors"
	"time"
)

// cpuTime returns the CPU time that a process has used.
func cpuTime(int) (time.Duration, error) { return 0, errors.ErrUnsupported }
