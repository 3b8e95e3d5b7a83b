package wal

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// A frame is frameBytes of header, the payload, and zeros up to the next
// multiple of frameAlign. All numbers are little endian:
//
//	 0  payload length, uint32
//	 4  mark, 3 bytes: "blk"
//	 7  flags, uint8: frameMore, frameGoesOn
//	 8  header checksum of the frame before, uint32; 0 in the first frame
//	12  checksum of payload and padding, uint32
//	16  first sequence, uint64
//	24  wall-clock time, Unix milliseconds, int64
//	32  durable mark: offset up to which the file was on disk, int64
//	40  number of sequences covered, uint32; 0 unless this is a last part
//	44  header checksum, uint32: log id, offset of the frame, bytes [0, 44)
const (
	frameBytes = 48
	frameAlign = 8
	frameMark  = "blk"
	maxCount   = math.MaxUint32
)

// Flags of a frame. A block of one frame has neither.
const (
	frameMore   = 1 << iota // another part of the same block follows
	frameGoesOn             // an earlier part of the same block precedes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is the decoded header of a frame.
type frame struct {
	length  int // of the payload, without padding
	flags   uint8
	link    uint32
	sum     uint32
	from    uint64
	millis  int64
	durable int64
	count   uint32
	check   uint32 // the header's own checksum
}

// to returns the last sequence the frame covers.
func (fr *frame) to() uint64 { return fr.from - 1 + uint64(fr.count) }

// size returns the bytes the whole frame takes in the file.
func (fr *frame) size() int64 { return FrameBytes(fr.length) }

// FrameBytes returns how many bytes of the file a payload of n bytes takes up.
func FrameBytes(n int) int64 { return frameBytes + padded(n) }

// padded returns the bytes a payload of n bytes takes in the file.
func padded(n int) int64 {
	return (int64(n) + frameAlign - 1) &^ (frameAlign - 1)
}

// encode writes the header into b for a frame at offset off of log id, and
// sets the header's checksum.
func (fr *frame) encode(b []byte, id [8]byte, off int64) {
	_ = b[frameBytes-1]
	binary.LittleEndian.PutUint32(b, uint32(fr.length))
	copy(b[4:7], frameMark)
	b[7] = fr.flags
	binary.LittleEndian.PutUint32(b[8:], fr.link)
	binary.LittleEndian.PutUint32(b[12:], fr.sum)
	binary.LittleEndian.PutUint64(b[16:], fr.from)
	binary.LittleEndian.PutUint64(b[24:], uint64(fr.millis))
	binary.LittleEndian.PutUint64(b[32:], uint64(fr.durable))
	binary.LittleEndian.PutUint32(b[40:], fr.count)
	fr.check = headerSum(b, id, off)
	binary.LittleEndian.PutUint32(b[44:], fr.check)
}

// decodeFrame reads the header of a frame at offset off of log id. It reports
// false unless the checksum holds: then these bytes were written by this log
// for this place, and what they say about the disk can be believed.
func decodeFrame(b []byte, id [8]byte, off int64) (frame, bool) {
	if !marked(b) || binary.LittleEndian.Uint32(b[44:]) != headerSum(b, id, off) {
		return frame{}, false
	}
	fr := fields(b)
	return fr, fr.plausible(off)
}

// fields decodes a header without judging it.
func fields(b []byte) frame {
	return frame{
		length:  int(binary.LittleEndian.Uint32(b)),
		flags:   b[7],
		link:    binary.LittleEndian.Uint32(b[8:]),
		sum:     binary.LittleEndian.Uint32(b[12:]),
		from:    binary.LittleEndian.Uint64(b[16:]),
		millis:  int64(binary.LittleEndian.Uint64(b[24:])),
		durable: int64(binary.LittleEndian.Uint64(b[32:])),
		count:   binary.LittleEndian.Uint32(b[40:]),
		check:   binary.LittleEndian.Uint32(b[44:]),
	}
}

// plausible reports whether a frame at off can hold such values.
func (fr *frame) plausible(off int64) bool {
	return fr.length <= MaxPayload &&
		fr.flags <= frameMore|frameGoesOn &&
		fr.durable >= 0 && fr.durable <= off &&
		fr.from > 0 && fr.to() >= fr.from-1
}

// marked reports whether b may start a frame.
func marked(b []byte) bool {
	return b[4] == frameMark[0] && b[5] == frameMark[1] && b[6] == frameMark[2]
}

// headerSum is the checksum of a header that lies at off in log id. Neither
// the id nor the offset is stored in the frame, so a copy of it fails in any
// other place.
func headerSum(b []byte, id [8]byte, off int64) uint32 {
	sum := sumUint64(0, binary.LittleEndian.Uint64(id[:]))
	sum = sumUint64(sum, uint64(off))
	return crc32.Update(sum, castagnoli, b[:44])
}

// sumUint64 adds the eight little-endian bytes of v to a checksum, as
// crc32.Update does, but without a slice that would have to be on the heap.
func sumUint64(sum uint32, v uint64) uint32 {
	sum = ^sum
	for range 8 {
		sum = castagnoli[byte(sum)^byte(v)] ^ sum>>8
		v >>= 8
	}
	return ^sum
}

// padding is what follows a payload.
var padding [frameAlign]byte

// payloadSum is the checksum of a payload and the zeros that pad it.
func payloadSum(payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, payload)
	return crc32.Update(sum, castagnoli, padding[:padded(len(payload))-int64(len(payload))])
}
