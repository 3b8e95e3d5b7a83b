package router

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// heldWait is how long a held socket blocks its thread at most.
	heldWait = 20 * time.Millisecond
	// spinTime is how long it is looked at again and again before it blocks:
	// a little more than a node takes to answer a small request. On an idle
	// machine the processor would sleep for that time, and waking it up costs
	// more than the time itself.
	spinTime = 100 * time.Microsecond
)

var errHeldTooLong = errors.New("router: held for too long")

// held is a socket that the runtime does not know: its system calls block the
// calling thread, for heldWait at most.
type held struct {
	fd      int
	spinner *spinner
}

// hold returns a held socket of the connection, which is to be closed then, or
// nil.
func hold(raw syscall.RawConn, s *spinner) *held {
	fd := -1
	err := raw.Control(func(orig uintptr) {
		fd, _ = unix.FcntlInt(orig, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err != nil || fd < 0 {
		return nil
	}
	wait := unix.NsecToTimeval(int64(heldWait))
	if unix.SetNonblock(fd, false) != nil ||
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait) != nil ||
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait) != nil {
		// The original shares this flag.
		unix.SetNonblock(fd, true)
		unix.Close(fd)
		return nil
	}
	return &held{fd, s}
}

// release turns the socket into a connection again. On an error it stays held.
func (h *held) release() (net.Conn, error) {
	fd, err := unix.FcntlInt(uintptr(h.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	file := os.NewFile(uintptr(fd), "")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	unix.Close(h.fd)
	return conn, nil
}

// read fails with errHeldTooLong when nothing came in time.
func (h *held) read(p []byte) (int, error) {
	start := ticks()
	if h.spinner.spins() {
		h.spin(start)
	}
	for {
		n, err := unix.Read(h.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return 0, errHeldTooLong
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		}
		h.spinner.note(ticks() - start)
		return n, nil
	}
}

// spin looks at the socket until it is ready or spinTime has passed. In between
// it gives way to other threads.
func (h *held) spin(start time.Duration) {
	for !h.ready() && ticks()-start < spinTime {
		unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// write fails with errHeldTooLong when the other side did not take everything
// in time; n is what it took.
func (h *held) write(p []byte) (n int, err error) {
	for n < len(p) {
		m, err := unix.Write(h.fd, p[n:])
		n += max(m, 0)
		switch err {
		case nil, unix.EINTR:
		case unix.EAGAIN:
			return n, errHeldTooLong
		default:
			return n, os.NewSyscallError("write", err)
		}
	}
	return n, nil
}

func (h *held) ready() bool { return pollRead(h.fd) }

// shutdown makes reads and writes fail, also those under way.
func (h *held) shutdown() { unix.Shutdown(h.fd, unix.SHUT_RDWR) }

func (h *held) close() { unix.Close(h.fd) }
