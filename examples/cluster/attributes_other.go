//go:build !linux

package main

import "syscall"

// attributes leaves a child as the system makes it.
func attributes() *syscall.SysProcAttr { return nil }
