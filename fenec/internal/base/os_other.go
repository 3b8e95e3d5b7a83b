//go:build !unix

package base

// SyncDir does nothing where directories cannot be synced.
func SyncDir(string) error { return nil }
