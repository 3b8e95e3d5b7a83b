//go:build !linux

package daemon

import "syscall"

// attributes leaves the child as the system makes it.
func attributes() *syscall.SysProcAttr { return nil }
