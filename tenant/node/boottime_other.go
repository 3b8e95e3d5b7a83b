//go:build !linux

package node

import "time"

var started = time.Now()

// bootTime returns how long ago the process was started. Whether that counts the time in
// which the machine was suspended depends on the system; the wall clock does.
func bootTime() time.Duration { return time.Since(started) }
