package text

import (
	"math/bits"
	"slices"
)

const (
	bucketBits = 7
	fewNumbers = 24 // that are sorted without buckets
)

// sortNumbers sorts distinct numbers by throwing them into buckets and sorting
// those, which takes about a third less time than slices.Sort alone for the
// hundred terms of a usual text. room is as long as numbers.
func sortNumbers(numbers, room []uint64) {
	if len(numbers) <= fewNumbers {
		slices.Sort(numbers)
		return
	}
	ends := scatter(numbers, room)
	copy(numbers, room)
	from := 0
	for _, end := range ends {
		if end-from > 1 {
			sortNumbers(numbers[from:end], room[from:end])
		}
		from = end
	}
}

// scatter puts the numbers into room by the uppermost bits in which they differ,
// and returns where in room each bucket ends.
func scatter(numbers, room []uint64) (ends [1 << bucketBits]int) {
	var differ uint64
	for _, x := range numbers {
		differ |= x ^ numbers[0]
	}
	shift := max(bits.Len64(differ)-bucketBits, 0)
	for _, x := range numbers {
		ends[x>>shift%(1<<bucketBits)]++
	}
	sum := 0
	for i, n := range ends {
		ends[i] = sum // where the bucket begins, until it is full
		sum += n
	}
	for _, x := range numbers {
		bucket := x >> shift % (1 << bucketBits)
		room[ends[bucket]] = x
		ends[bucket]++
	}
	return ends
}
