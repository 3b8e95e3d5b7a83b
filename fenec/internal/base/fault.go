package base

import (
	"runtime/debug"
)

// catchFaults makes a fault on a mapped page a panic of this goroutine instead
// of the end of the process, and returns the former setting for endFaults.
func catchFaults() bool { return debug.SetPanicOnFault(true) }

func endFaults(before bool) { debug.SetPanicOnFault(before) }

// recoverCorrupt turns a panic raised while reading the file, by bbolt's own
// checks or by a fault in the map, into ErrCorrupt. Defer it around bbolt
// calls and nothing else.
func recoverCorrupt(path string, err *error) {
	if v := recover(); v != nil {
		*err = corrupt(path, "%v", v)
	}
}

func (f *File) recoverCorrupt(err *error) {
	if v := recover(); v != nil {
		*err = corrupt(f.path, "%v", v)
	}
}

// Guard runs fn, which reads values that lie in the file's map, and reports a
// fault there as ErrCorrupt. Every other panic goes on.
func Guard(path string, fn func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = corrupt(path, "%v", v)
		default:
			panic(v)
		}
	}()
	defer endFaults(catchFaults())
	return fn()
}
