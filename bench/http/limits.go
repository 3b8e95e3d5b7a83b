package main

import "syscall"

// spareFiles is how many descriptors a process needs beside its streams.
const spareFiles = 200

// raiseFiles asks for n descriptors and returns how many may be had. Only a
// privileged process can pass its hard limit.
func raiseFiles(n int) (int, error) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, err
	}
	if r.Cur >= uint64(n) {
		return n, nil
	}
	for _, hard := range []uint64{max(r.Max, uint64(n)), r.Max} {
		want := syscall.Rlimit{Cur: min(uint64(n), hard), Max: hard}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want) == nil {
			return int(want.Cur), nil
		}
	}
	return int(r.Cur), nil
}
