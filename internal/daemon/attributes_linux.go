package daemon

import "syscall"

// attributes puts the child in a process group of its own, out of reach of a
// terminal's interrupt, and has the kernel end it when its parent dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
