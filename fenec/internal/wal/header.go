package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A log starts with headerBytes that hold the header twice, each copy in a
// page of its own so that tearing one cannot reach the other. Of the valid
// copies the one with the higher generation counts. All numbers are little
// endian:
//
//	  0  magic, 8 bytes: "fenecLOG"
//	  8  format version, uint32
//	 12  flags, uint32: slotClean
//	 16  generation, uint64: goes up with every change of the header
//	 24  base id, 16 bytes
//	 40  log id, 8 random bytes
//	 48  process that last opened the log for writing, uint64
//	 56  sequence the log continues after, uint64
//	 64  reservation, uint64
//	 72  durable mark: offset up to which the file was on disk, int64
//	 80  zeros
//	508  checksum of bytes [0, 508), uint32
const (
	headerBytes = 8192
	slotBytes   = 512
	slotStride  = headerBytes / 2
	slotSum     = slotBytes - 4

	magic   = "fenecLOG"
	version = 1

	slotClean = 1
)

// A Header says what a log is. Create takes the fields of the first group.
type Header struct {
	Base     [16]byte // id of the base the log belongs to
	After    uint64   // last sequence before the log's first block
	Reserved uint64   // highest sequence that may be handed out without another Reserve

	// Set by the package.
	Log     [8]byte // random id of this log
	PID     int     // process that last opened the log for writing
	Durable int64   // how far the file was on disk when the header was written
	Clean   bool    // CloseClean was the last thing that happened

	generation uint64
}

// encode returns the bytes of a slot.
func (h *Header) encode() []byte {
	b := make([]byte, slotBytes)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], version)
	if h.Clean {
		binary.LittleEndian.PutUint32(b[12:], slotClean)
	}
	binary.LittleEndian.PutUint64(b[16:], h.generation)
	copy(b[24:40], h.Base[:])
	copy(b[40:48], h.Log[:])
	binary.LittleEndian.PutUint64(b[48:], uint64(h.PID))
	binary.LittleEndian.PutUint64(b[56:], h.After)
	binary.LittleEndian.PutUint64(b[64:], h.Reserved)
	binary.LittleEndian.PutUint64(b[72:], uint64(h.Durable))
	binary.LittleEndian.PutUint32(b[slotSum:], crc32.Checksum(b[:slotSum], castagnoli))
	return b
}

// decodeSlot reads a slot. It reports false for bytes that are none.
func decodeSlot(b []byte) (h Header, ver uint32, ok bool) {
	if string(b[:8]) != magic ||
		binary.LittleEndian.Uint32(b[slotSum:]) != crc32.Checksum(b[:slotSum], castagnoli) {
		return Header{}, 0, false
	}
	h.Clean = binary.LittleEndian.Uint32(b[12:])&slotClean != 0
	h.generation = binary.LittleEndian.Uint64(b[16:])
	copy(h.Base[:], b[24:40])
	copy(h.Log[:], b[40:48])
	h.PID = int(binary.LittleEndian.Uint64(b[48:]))
	h.After = binary.LittleEndian.Uint64(b[56:])
	h.Reserved = binary.LittleEndian.Uint64(b[64:])
	h.Durable = int64(binary.LittleEndian.Uint64(b[72:]))
	return h, binary.LittleEndian.Uint32(b[8:]), true
}

// decodeHeader picks the header out of the first bytes of a file, of which
// there may be fewer than headerBytes, and says in which slot it was. A slot of
// -1 says that there is none. ErrVersion is its only error.
func decodeHeader(b []byte) (h Header, slot int, err error) {
	slot = -1
	for i := range headerBytes / slotStride {
		off := i * slotStride
		if off+slotBytes > len(b) {
			break
		}
		found, ver, ok := decodeSlot(b[off : off+slotBytes])
		if ok && ver != version {
			return Header{}, -1, fmt.Errorf("%w: %d", ErrVersion, ver)
		}
		if ok && (slot < 0 || found.generation > h.generation) {
			h, slot = found, i
		}
	}
	return h, slot, nil
}
