package measure

import "runtime"

// HeldMemory returns the bytes of live objects and of stacks.
func HeldMemory() int64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools held on to in the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
