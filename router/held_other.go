//go:build !linux

package router

import (
	"errors"
	"net"
	"syscall"
)

var errHeldTooLong = errors.New("router: held for too long")

// held is only known on Linux.
type (
	held    struct{}
	spinner struct{}
)

func hold(syscall.RawConn, *spinner) *held { return nil }

func (*held) release() (net.Conn, error) { return nil, errors.ErrUnsupported }
func (*held) read([]byte) (int, error)   { return 0, errors.ErrUnsupported }
func (*held) write([]byte) (int, error)  { return 0, errors.ErrUnsupported }
func (*held) ready() bool                { return true }
func (*held) shutdown()                  {}
func (*held) close()                     {}
