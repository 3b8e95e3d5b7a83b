package row

import (
	"encoding/binary"
	"hash/crc32"
)

// sealLen is the number of bytes Seal adds.
const sealLen = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal appends the CRC32C of b to it, little endian.
func Seal(b []byte) []byte { return SealFrom(b, 0) }

// SealFrom appends the CRC32C of b[from:] to b, for a row that was encoded
// behind other bytes.
func SealFrom(b []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// Open returns what was sealed in b, or ErrCorrupt when its checksum is another.
func Open(b []byte) ([]byte, error) {
	n := len(b) - sealLen
	if n < 0 || binary.LittleEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, ErrCorrupt
	}
	return b[:n:n], nil
}
