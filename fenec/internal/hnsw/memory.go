package hnsw

import "unsafe"

// hugeBytes is from how many bytes on memory is asked for in large pages. What a
// search touches lies all over a graph, and with small pages the processor
// spends a tenth of the time on looking up where.
const hugeBytes = 4 << 20

// memory returns zeroed memory for so many numbers, in large pages where the
// system has them and it is worth it.
func memory[T byte | uint16 | uint32 | float32](count int) []T {
	m := make([]T, count)
	if size := count * int(unsafe.Sizeof(m[0])); size >= hugeBytes {
		preferHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m))), size))
	}
	return m
}

// noneWords returns words of no node.
func noneWords(count int) []uint32 {
	words := memory[uint32](count)
	fillNone(words)
	return words
}

func fillNone(words []uint32) {
	for i := range words {
		words[i] = none
	}
}

// bytesOf returns the bytes that numbers lie in.
func bytesOf[T float32 | uint16](numbers []T) []byte {
	size := len(numbers) * int(unsafe.Sizeof(numbers[0]))
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), size)
}
