//go:build !linux

package main

import "errors"

// residentMemory returns the bytes of memory that this process takes up.
func residentMemory() (int64, error) { return 0, errors.ErrUnsupported }
