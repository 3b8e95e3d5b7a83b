package hll

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH64.
const (
	prime1 uint64 = 0x9e3779b185ebca87
	prime2 uint64 = 0xc2b2ae3d27d4eb4f
	prime3 uint64 = 0x165667b19e3779f9
	prime4 uint64 = 0x85ebca77c2b2ae63
	prime5 uint64 = 0x27d4eb2f165667c5
)

// Hash returns the XXH64 of b with seed 0, by Yann Collet's specification of
// xxHash, version 0.1.1.
func Hash(b []byte) uint64 {
	n := uint64(len(b))
	h := prime5
	if len(b) >= 32 {
		h, b = stripes(b)
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h ^= round(0, binary.LittleEndian.Uint64(b))
		h = bits.RotateLeft64(h, 27)*prime1 + prime4
	}
	if len(b) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(b)) * prime1
		h = bits.RotateLeft64(h, 23)*prime2 + prime3
		b = b[4:]
	}
	for _, c := range b {
		h ^= uint64(c) * prime5
		h = bits.RotateLeft64(h, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

// stripes hashes 32 bytes at a time, in four lanes, and returns what is left.
func stripes(b []byte) (h uint64, rest []byte) {
	first := prime1
	first += prime2 // beyond 64 bits, which a constant may not be
	lanes := [4]uint64{first, prime2, 0, ^prime1 + 1}
	for ; len(b) >= 32; b = b[32:] {
		for i := range lanes {
			lanes[i] = round(lanes[i], binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	for i, lane := range lanes {
		h += bits.RotateLeft64(lane, [4]int{1, 7, 12, 18}[i])
	}
	for _, lane := range lanes {
		h = (h^round(0, lane))*prime1 + prime4
	}
	return h, b
}

func round(acc, input uint64) uint64 {
	return bits.RotateLeft64(acc+input*prime2, 31) * prime1
}
