package hnsw

import (
	"os"
	"syscall"
	"unsafe"
)

// preferHugePages asks for large pages where m lies. Without them everything works
// as well, only slower, so errors do not matter.
func preferHugePages(m []byte) {
	page := os.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (page - 1)
	whole := m[skip:]
	_ = syscall.Madvise(whole[:len(whole)&^(page-1)], syscall.MADV_HUGEPAGE)
}
