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

// hasEnded reports whether the other side has ended its half of the connection, or the
// connection is broken. It takes nothing away, and does not see an end behind bytes
// that have not been read yet.
func hasEnded(raw syscall.RawConn) (ended bool) {
	var b [1]byte
	err := raw.Control(func(fd uintptr) {
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		ended = err == nil && n == 0 || err != nil && err != unix.EAGAIN && err != unix.EINTR
	})
	return ended || err != nil
}
