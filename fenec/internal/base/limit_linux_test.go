package base_test

import "golang.org/x/sys/unix"

// limitMemory ends this process when it takes more than n bytes.
func limitMemory(n uint64) {
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: n, Max: n})
}
