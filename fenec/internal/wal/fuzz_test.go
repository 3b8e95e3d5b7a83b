package wal_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// seal makes the checksums and links in a file right, as far as its lengths
// lead, so that odd values behind good checksums are met too.
func seal(b []byte) []byte {
	b = slices.Clone(b)
	if len(b) < headerBytes {
		return b
	}
	copy(b, "fenecLOG\x01\x00\x00\x00")
	copy(b[24:], base[:])
	binary.LittleEndian.PutUint32(b[508:], sum(b[:508]))
	link := uint32(0)
	for off := headerBytes; off+48 <= len(b); {
		fr := b[off:]
		n := (int(binary.LittleEndian.Uint32(fr)) + 7) &^ 7
		copy(fr[4:7], "blk")
		binary.LittleEndian.PutUint32(fr[8:], link)
		if n <= len(fr)-48 {
			binary.LittleEndian.PutUint32(fr[12:], sum(fr[48:48+n]))
		}
		resum(b, int64(off))
		link = binary.LittleEndian.Uint32(fr[44:])
		off += 48 + n
	}
	return b
}

func FuzzOpen(f *testing.F) {
	for _, b := range [][]byte{
		makeSpecimen(f).bytes,
		readTestdata(f, "version1.fenec-log"),
		readTestdata(f, "version2.fenec-log"),
		make([]byte, headerBytes+100),
	} {
		f.Add(b[:slotEnd], b[headerBytes:])
	}
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, slot, frames []byte) {
		b := slot
		if len(frames) > 0 {
			b = make([]byte, headerBytes, headerBytes+len(frames))
			copy(b, slot)
			b = append(b, frames...)
		}
		fuzzOpen(t, b)
		fuzzOpen(t, seal(b))
	})
}

// fuzzOpen opens any bytes at all: that gives a known error, or a log that can
// be continued and then reads the same.
func fuzzOpen(t *testing.T, b []byte) {
	m := withFile(b)
	var read, got []block
	seen, readErr := wal.Read(path, base, wal.Options{FS: m}, collect(&read))
	l, rec, err := wal.Open(path, base, wal.Options{FS: m}, collect(&got))
	require.Equal(t, readErr, err)
	require.Equal(t, seen, rec)
	require.Equal(t, read, got)
	if err != nil {
		known := errors.Is(err, wal.ErrCorrupt) || errors.Is(err, wal.ErrForeign) || errors.Is(err, wal.ErrVersion)
		require.True(t, known, err)
		return
	}
	if rec.Empty {
		return
	}
	require.Len(t, got, rec.Blocks)
	next := block{from: rec.Last + 1, to: rec.Last + 1, payload: "next"}
	if next.from == 0 {
		return // there is no number left
	}
	add(t, l, next)
	require.NoError(t, l.CloseClean())
	var again []block
	rec, err = wal.Read(path, base, wal.Options{FS: m}, collect(&again))
	require.NoError(t, err)
	require.Equal(t, append(got, next), again)
	require.True(t, rec.Clean)
}

// FuzzDamage changes a good log in two places, or cuts it at the second.
func FuzzDamage(f *testing.F) {
	s := makeSpecimen(f)
	f.Add(uint16(0), uint8(1), uint16(200), uint8(2), false)
	f.Add(uint16(100), uint8(1), uint16(300), uint8(2), true)
	f.Fuzz(func(t *testing.T, at1 uint16, xor1 uint8, at2 uint16, xor2 uint8, cut bool) {
		b := slices.Clone(s.bytes)
		frames := b[headerBytes:]
		i, j := int(at1)%len(frames), int(at2)%len(frames)
		frames[i] ^= xor1
		frames[j] ^= xor2
		if cut {
			b = b[:headerBytes+j]
		}
		first := 0
		for first < len(b) && b[first] == s.bytes[first] {
			first++
		}
		s.check(t, b, int64(first), false, "two changes")
	})
}
