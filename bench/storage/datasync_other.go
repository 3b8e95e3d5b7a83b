//go:build !linux

package main

import "os"

// datasync puts the file on disk.
func datasync(f *os.File) error { return f.Sync() }
