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

// endReading is endFaults and recoverCorrupt in one, for what is read so often
// that a second deferred call would be felt:
//
//	defer endReading(path, catchFaults(), &err)
func endReading(path string, before bool, err *error) {
	endFaults(before)
	if v := recover(); v != nil {
		*err = corrupt(path, "%v", v)
	}
}

func (f *File) recoverCorrupt(err *error) {
	if v := recover(); v != nil {
		*err = corrupt(f.path, "%v", v)
	}
}

// Guard makes a fault on a mapped page a panic of this goroutine, for a caller
// that reads values which lie in the map:
//
//	defer base.Recover(path, base.Guard(), &err)
func Guard() (before bool) { return catchFaults() }

// Recover, when deferred, ends what Guard began and turns a fault into
// ErrCorrupt. Every other panic goes on.
func Recover(path string, before bool, err *error) {
	endFaults(before)
	switch v := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		*err = corrupt(path, "%v", v)
	default:
		panic(v)
	}
}
