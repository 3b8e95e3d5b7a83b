//go:build !linux

package hnsw

func preferHugePages([]byte) {}
