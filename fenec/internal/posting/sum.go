package posting

import (
	"encoding/binary"
	"hash/crc32"
)

// sumSize is how many bytes the checksum takes that a chunk ends with.
const sumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seedOf returns what the checksums of a term's chunks begin with, so that a chunk
// is none of another term. Which of the term's it is, its first id says.
func seedOf(prefix []byte) uint32 { return crc32.Checksum(prefix, castagnoli) }

// appendSum appends the checksum of chunk to it.
func appendSum(chunk []byte, seed uint32) []byte {
	return binary.LittleEndian.AppendUint32(chunk, crc32.Update(seed, castagnoli, chunk))
}

// cutSum returns a stored chunk without its checksum, if that is right.
func cutSum(stored []byte, seed uint32) (chunk []byte, ok bool) {
	n := len(stored) - sumSize
	if n < 0 || binary.LittleEndian.Uint32(stored[n:]) != crc32.Update(seed, castagnoli, stored[:n]) {
		return nil, false
	}
	return stored[:n], true
}
