package http1

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// UsableID reports whether a client's request id can be kept: 1 to 128 bytes of
// printable ASCII.
func UsableID[T []byte | string](id T) bool {
	if len(id) < 1 || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// NewID makes a request id: 16 hexadecimal digits that tell requests apart and
// are no secret.
func NewID() string {
	var raw [8]byte
	var digits [16]byte
	binary.LittleEndian.PutUint64(raw[:], rand.Uint64())
	hex.Encode(digits[:], raw[:])
	return string(digits[:])
}
