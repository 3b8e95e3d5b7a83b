//go:build !linux

package base_test

// limitMemory does nothing where there is no such limit.
func limitMemory(uint64) {}
