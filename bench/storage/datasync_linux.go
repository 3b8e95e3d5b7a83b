package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync puts the file's bytes on disk, and of its metadata only what reading
// them takes.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
