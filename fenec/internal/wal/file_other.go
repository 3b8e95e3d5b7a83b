//go:build !linux

package wal

import "errors"

// Allocate has no portable counterpart that also extends the file cheaply.
func (f *osFile) Allocate(off, n int64) error { return errors.ErrUnsupported }
