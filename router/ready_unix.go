//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package router

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// isReady reports whether a read of the socket would return at once.
func isReady(raw syscall.RawConn) bool {
	ready := true
	err := raw.Control(func(fd uintptr) { ready = pollRead(int(fd)) })
	return err != nil || ready
}

// pollRead looks at a socket without waiting. It sees what a peek of one byte
// would see, and needs no buffer.
func pollRead(fd int) bool {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds[:], 0)
		if err != unix.EINTR {
			return n != 0
		}
	}
}
