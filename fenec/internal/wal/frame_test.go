package wal_test

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

func TestFrameBytes(t *testing.T) {
	l := create(t, waltest.NewMem())
	for i := range 20 {
		before := l.End()
		add(t, l, exactly(i))
		require.Equal(t, wal.FrameBytes(i), l.End()-before)
	}
}

// exactly returns a block with a payload of exactly n bytes.
func exactly(n int) block {
	return block{from: uint64(n + 1), to: uint64(n + 1), payload: string(make([]byte, n))}
}

// resum makes the checksum of the frame header at off right.
func resum(b []byte, off int64) {
	place := binary.LittleEndian.AppendUint64(slices.Clone(b[40:48]), uint64(off))
	binary.LittleEndian.PutUint32(b[off+44:], sum(append(place, b[off:off+44]...)))
}

// A frame with good checksums that does not fit in ends the log.
func TestFramesThatDoNotFit(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, block{from: 5, to: 6, payload: "first"})
	sync(t, l)
	start := l.End()
	second := add(t, l, block{from: 7, to: 7, payload: "second"})
	add(t, l, block{from: 8, to: 8, payload: "third"})
	require.NoError(t, l.Close())
	whole := contents(t, m)[:l.End()]
	for name, change := range map[string]func(fr []byte){
		"does not follow":     func(fr []byte) { fr[8]++ },
		"part of another":     func(fr []byte) { fr[7] = 2 },
		"sequence is too low": func(fr []byte) { fr[16] = 6 },
		"file ends within":    func(fr []byte) { fr[1] = 1 },
		"payload's checksum":  func(fr []byte) { fr[12]++ },
		"good checksum":       func(fr []byte) { fr[7] = 4 },
		"no good sequence":    func(fr []byte) { clear(fr[16:24]) },
		"mark past itself":    func(fr []byte) { fr[34] = 1 },
		"length past limit":   func(fr []byte) { fr[3] = 0xff },
	} {
		t.Run(name, func(t *testing.T) {
			b := slices.Clone(whole)
			change(b[start:])
			resum(b, start)
			var got []block
			rec, err := wal.Read(path, base, wal.Options{FS: withFile(b)}, collect(&got))
			require.NoError(t, err)
			require.Len(t, got, 1)
			require.Equal(t, start, rec.End)
			require.InDelta(t, len(b)-int(start), rec.Cut, 8)

			// The same with a frame behind it that says it was on disk.
			binary.LittleEndian.PutUint64(b[second+32:], uint64(second))
			resum(b, second)
			_, err = wal.Inspect(path, wal.Options{FS: withFile(b)})
			var damage *wal.CorruptError
			require.ErrorAs(t, err, &damage)
			require.Equal(t, start, damage.Offset)
			if slices.Contains([]string{"does not follow", "part of another", "sequence is too low", "file ends within", "payload's checksum", "good checksum"}, name) {
				require.Contains(t, damage.Reason, name)
			}
		})
	}
}

// Parts that were given up come back in the place where they were, behind a
// block that was written over the first of them.
func TestPartsThatComeBack(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	start := add(t, l, block{from: 1, to: 1, payload: "before"})
	part := wal.Block{From: 2, Payload: []byte("part")}
	require.NoError(t, l.AppendPart(part))
	require.NoError(t, l.AppendPart(part))
	last := block{from: 2, to: 2, payload: "last"}
	end := add(t, l, last)
	stale := slices.Clone(contents(t, m)[:end])

	m = withFile(stale[:start])
	l, _, _ = open(t, m)
	want := block{from: 2, to: 3, payload: "new!"}
	second := add(t, l, want)
	require.NoError(t, l.Close())
	b := append(slices.Clone(contents(t, m)[:second]), stale[second:]...)
	var got []block
	rec, err := wal.Read(path, base, wal.Options{FS: withFile(b)}, collect(&got))
	require.NoError(t, err)
	require.Equal(t, []block{{from: 1, to: 1, payload: "before"}, want}, got)
	require.Equal(t, second, rec.End)
	require.NotZero(t, rec.Cut)
}

// The parts of a block are checked when the block is found complete, and again
// when they are read.
func TestPartsThatChangeBetweenReads(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	addParts(t, l, numbered(1, 1<<20), 400_000)
	require.NoError(t, l.Close())
	fsys := waltest.Inject(m, nil)
	read := func(meanwhile func()) error {
		_, err := wal.Read(path, base, wal.Options{FS: fsys}, func(b *wal.Block) error {
			meanwhile()
			for _, err := range b.Parts() {
				if err != nil {
					return err
				}
			}
			return nil
		})
		return err
	}
	require.NoError(t, read(func() {}))
	require.ErrorIs(t, read(func() { fsys.SetHook(waltest.Fail(waltest.Read, 2, errDisk)) }), errDisk)
	fsys.SetHook(nil)
	require.ErrorIs(t, read(func() {
		f, err := m.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte("?"), headerBytes+400_100)
		require.NoError(t, err)
	}), wal.ErrCorrupt)
}

// A frame header that lies across two windows of the scan is seen.
func TestMarkAcrossWindows(t *testing.T) {
	const window = 256 << 10
	for shift := int64(0); shift <= 56; shift += 8 {
		m := waltest.NewMem()
		l := create(t, m)
		first := add(t, l, block{from: 1, to: 1, payload: "damaged"})
		sync(t, l)
		size := headerBytes + window - first - 48 - shift
		add(t, l, block{from: 2, to: 2, payload: string(make([]byte, size))})
		require.Equal(t, headerBytes+window-shift, l.End())
		end := add(t, l, block{from: 3, to: 3})
		require.NoError(t, l.Close())
		b := contents(t, m)[:end]
		clear(b[headerBytes+8 : first+8]) // both headers that stand before it
		_, err := wal.Inspect(path, wal.Options{FS: withFile(b)})
		require.ErrorIs(t, err, wal.ErrCorrupt)
	}
}
