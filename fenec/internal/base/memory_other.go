//go:build !linux

package base

import "os"

// memoryFile returns an empty file that is gone once it is closed, as near to
// memory as the system has it: a temporary file without a name.
func memoryFile() (*os.File, error) {
	f, err := os.CreateTemp("", "fenec-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // fails on Windows, where the system's cleaning up must do
	return f, nil
}
