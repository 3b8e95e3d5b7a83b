package main

import "syscall"

// attributes has the kernel end a child when this program dies.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
