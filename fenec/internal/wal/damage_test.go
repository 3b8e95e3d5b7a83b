package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

// headerBytes is where frames start.
const headerBytes = 8192

// specimen is a log file with what is known about it.
type specimen struct {
	bytes  []byte
	blocks []block
	ends   []int64 // where each block ends
	marked []bool  // a later frame or the header says that the block was on disk
}

// makeSpecimen writes a log with marked blocks, unmarked ones, and one in
// parts, of which the last parts are the end of the file.
func makeSpecimen(t testing.TB) specimen {
	t.Helper()
	m := waltest.NewMem()
	l := create(t, m)
	var s specimen
	note := func(b block, end int64) {
		s.blocks = append(s.blocks, b)
		s.ends = append(s.ends, end)
		s.marked = append(s.marked, false)
	}
	for i := 1; i <= 3; i++ {
		note(numbered(i, 40*i), add(t, l, numbered(i, 40*i)))
	}
	sync(t, l)
	note(numbered(4, 33), add(t, l, numbered(4, 33)))
	s.marked[0], s.marked[1], s.marked[2] = true, true, true
	note(numbered(5, 50), addParts(t, l, numbered(5, 50), 20))
	note(numbered(6, 0), add(t, l, numbered(6, 0)))
	note(numbered(7, 30), addParts(t, l, numbered(7, 30), 17))
	require.NoError(t, l.Close())
	s.bytes = contents(t, m)[:l.End()]
	return s
}

// check opens a changed copy of the specimen's file, whose first change is at
// offset at, and requires an outcome that loses and invents nothing. With
// marks, the file still has what says which blocks were on disk.
func (s *specimen) check(t *testing.T, b []byte, at int64, marks bool, what string) {
	t.Helper()
	m := withFile(b)
	var got []block
	l, rec, err := wal.Open(path, base, wal.Options{FS: m}, collect(&got))
	var damage *wal.CorruptError
	if errors.As(err, &damage) {
		require.ErrorIs(t, err, wal.ErrCorrupt)
		require.Equal(t, path, damage.Path)
		require.LessOrEqual(t, damage.Offset, at, what)
		require.Contains(t, err.Error(), fmt.Sprintf("%s: log is damaged at offset %d: ", path, damage.Offset))
		require.Equal(t, b, contents(t, m), "damage is left as it is")
		return
	}
	require.NoError(t, err, what)
	if rec.Empty {
		require.Less(t, len(b), headerBytes, what)
		return
	}
	require.LessOrEqual(t, len(got), len(s.blocks), what)
	if len(got) > 0 {
		require.Equal(t, s.blocks[:len(got)], got, what)
	}
	for i := range s.blocks {
		if i < len(got) {
			continue
		}
		require.False(t, marks && s.marked[i], "%s: block %d was on disk and is lost", what, i)
		require.GreaterOrEqual(t, s.ends[i], at, "%s: block %d is whole and is lost", what, i)
		break
	}
	require.NoError(t, l.Close())
	if at%7 != 0 {
		return // once in a while is often enough for what follows
	}

	// The log goes on after what was found.
	l, _, _ = open(t, m)
	next := block{from: rec.Last + 100, to: rec.Last + 100, payload: "next"}
	add(t, l, next)
	require.NoError(t, l.Close())
	_, rec, again := open(t, m)
	require.Equal(t, append(got, next), again, what)
	require.Zero(t, rec.Cut, what)
}

func TestCutAtEveryByte(t *testing.T) {
	s := makeSpecimen(t)
	for size := range len(s.bytes) {
		if size >= slotEnd && size < headerBytes-8 {
			continue // nothing but the padding of the header
		}
		s.check(t, s.bytes[:size], int64(size), false, fmt.Sprintf("cut to %d", size))
		zeroed := append(slices.Clone(s.bytes[:size]), make([]byte, len(s.bytes)-size+4096)...)
		if size >= headerBytes {
			s.check(t, zeroed, int64(size), false, fmt.Sprintf("zeros from %d", size))
		}
	}
}

// slotEnd is the end of the first copy of the header.
const slotEnd = 512

func TestFlipEveryByte(t *testing.T) {
	s := makeSpecimen(t)
	for at := range s.bytes {
		if at%4096 >= slotEnd && at < headerBytes {
			continue
		}
		for _, flip := range []byte{0x01, 0xff} {
			b := slices.Clone(s.bytes)
			b[at] ^= flip
			s.check(t, b, int64(at), true, fmt.Sprintf("byte %d ^ %#x", at, flip))
		}
	}
}

// Every block ahead of a mark stays or its loss is told.
func TestDamageAheadOfAMarkIsTold(t *testing.T) {
	s := makeSpecimen(t)
	for at := headerBytes; at < int(s.ends[2]); at++ {
		b := slices.Clone(s.bytes)
		b[at] ^= 4
		_, err := wal.Inspect(path, wal.Options{FS: withFile(b)})
		var damage *wal.CorruptError
		require.ErrorAs(t, err, &damage, "byte %d", at)
		require.LessOrEqual(t, damage.Offset, int64(at))
		require.Greater(t, damage.Offset+200, int64(at))
	}
}

func TestSwappedAndRepeatedFrames(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	end := []int64{headerBytes}
	for i := 1; i <= 4; i++ {
		end = append(end, add(t, l, numbered(i, 40)))
	}
	require.NoError(t, l.Close())
	whole := contents(t, m)
	frame := func(i int) []byte { return whole[end[i]:end[i+1]] }
	for name, order := range map[string][]int{
		"swapped":  {0, 2, 1, 3},
		"repeated": {0, 1, 1, 3},
		"missing":  {0, 2, 3},
	} {
		b := slices.Clone(whole[:headerBytes])
		for _, i := range order {
			b = append(b, frame(i)...)
		}
		var got []block
		rec, err := wal.Read(path, base, wal.Options{FS: withFile(b)}, collect(&got))
		require.NoError(t, err, name)
		require.NotEmpty(t, got, name)
		require.NotZero(t, rec.Cut, name)
		for i, g := range got {
			require.Equal(t, numbered(i+1, 40), g, name)
		}
	}
}

// A log stored as somebody's data inside a log is data.
func TestFramesWithinPayloads(t *testing.T) {
	s := makeSpecimen(t)
	m := waltest.NewMem()
	l := create(t, m)
	inner := block{from: 1, to: 1, payload: string(s.bytes)}
	end := add(t, l, inner)
	require.NoError(t, l.Close())
	_, _, got := open(t, m)
	require.Equal(t, []block{inner}, got)

	b := contents(t, m)
	b[headerBytes] ^= 1 // what is in the payload must not be taken for a later frame
	var after []block
	rec, err := wal.Read(path, base, wal.Options{FS: withFile(b)}, collect(&after))
	require.NoError(t, err)
	require.Empty(t, after)
	require.InDelta(t, end-headerBytes, rec.Cut, 8)
}

// A frame of the same log in another place, as an old copy of a page would
// bring it back, is no frame.
func TestFramesInAnotherPlace(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 40))
	sync(t, l)
	end := add(t, l, numbered(2, 40))
	require.NoError(t, l.Close())
	b := contents(t, m)[:end]
	frame := b[end-88 : end]
	require.Equal(t, "blk", string(frame[4:7]))
	moved := append(slices.Clone(b), frame...)
	rec, err := wal.Inspect(path, wal.Options{FS: withFile(moved)})
	require.NoError(t, err)
	require.Equal(t, 2, rec.Blocks)
	require.Equal(t, int64(88), rec.Cut)
}

// A log loses its middle, as when pages reach the disk out of order: without a
// mark beyond that is a torn tail, with one it is damage.
func TestLostMiddle(t *testing.T) {
	for _, marked := range []bool{false, true} {
		m := waltest.NewMem()
		l := create(t, m)
		first := add(t, l, numbered(1, 40))
		second := add(t, l, numbered(2, 40))
		if marked {
			sync(t, l)
		}
		end := add(t, l, numbered(3, 300_000), numbered(4, 40), numbered(5, 300_000))
		require.NoError(t, l.Close())
		b := contents(t, m)[:end]
		clear(b[first:second])
		rec, err := wal.Inspect(path, wal.Options{FS: withFile(b)})
		if marked {
			var damage *wal.CorruptError
			require.ErrorAs(t, err, &damage)
			require.Equal(t, first, damage.Offset)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, first, rec.End)
		require.Equal(t, uint64(1), rec.Last)
		require.InDelta(t, end-first, rec.Cut, 8)
	}
}

func TestHeaderSurvivesTheLossOfACopy(t *testing.T) {
	for slot := range 2 {
		m := waltest.NewMem()
		l := create(t, m)
		require.NoError(t, l.Reserve(1000))
		require.NoError(t, l.Reserve(2000))
		add(t, l, numbered(1, 10))
		require.NoError(t, l.Close())
		b := contents(t, m)
		b[slot*4096+64] ^= 1
		rec, err := wal.Inspect(path, wal.Options{FS: withFile(b)})
		require.NoError(t, err)
		require.Equal(t, uint64(2000), rec.Reserved)
		require.Equal(t, 1, rec.Blocks)
	}
}

func TestDamagedHeader(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10))
	sync(t, l)
	require.NoError(t, l.Reserve(5))
	add(t, l, numbered(2, 10))
	require.NoError(t, l.Close())
	whole := contents(t, m)
	for name, change := range map[string]func(b []byte) []byte{
		"both copies flipped": func(b []byte) []byte { b[10] ^= 1; b[4096+10] ^= 1; return b },
		"zeroed":              func(b []byte) []byte { clear(b[:headerBytes]); return b },
		"cut into":            func(b []byte) []byte { return b[:5000] },
		"text":                func([]byte) []byte { return bytes.Repeat([]byte("not a log "), 2000) },
	} {
		t.Run(name, func(t *testing.T) {
			fsys := withFile(change(slices.Clone(whole)))
			_, _, err := wal.Open(path, base, wal.Options{FS: fsys}, nil)
			require.ErrorIs(t, err, wal.ErrCorrupt)
			_, err = wal.ReadHeader(path, wal.Options{FS: fsys})
			require.ErrorIs(t, err, wal.ErrCorrupt)
			_, err = wal.Create(path, wal.Header{Base: base}, wal.Options{FS: fsys})
			require.ErrorIs(t, err, wal.ErrCorrupt, "damage is not overwritten")
		})
	}
}

// A log that was never flushed may lose its header to a crash and keep frames.
func TestLostHeaderOfALazyLog(t *testing.T) {
	m := waltest.NewMem()
	l, err := wal.Create(path, wal.Header{Base: base}, wal.Options{FS: m, Lazy: true})
	require.NoError(t, err)
	add(t, l, numbered(1, 10), numbered(2, 300_000))
	b := contents(t, m)
	clear(b[:headerBytes])
	_, rec, err := wal.Open(path, base, wal.Options{FS: withFile(b)}, nil)
	require.NoError(t, err)
	require.True(t, rec.Empty)

	sync(t, l)
	add(t, l, numbered(3, 300_000), numbered(4, 10))
	b = contents(t, m)
	clear(b[:headerBytes])
	_, _, err = wal.Open(path, base, wal.Options{FS: withFile(b)}, nil)
	require.ErrorIs(t, err, wal.ErrCorrupt, "once flushed, the header was on disk")
}

func TestVersion(t *testing.T) {
	b := readTestdata(t, "version2.fenec-log")
	_, _, err := wal.Open(path, base, wal.Options{FS: withFile(b)}, nil)
	require.ErrorIs(t, err, wal.ErrVersion)
	_, err = wal.Inspect(path, wal.Options{FS: withFile(b)})
	require.ErrorIs(t, err, wal.ErrVersion)
}

// The log of the first release must stay readable.
func TestReleasedFormat(t *testing.T) {
	m := withFile(readTestdata(t, "version1.fenec-log"))
	l, rec, got := open(t, m)
	require.Equal(t, []block{
		{from: 11, to: 11, millis: 1_700_000_000_000, payload: "first"},
		{from: 12, to: 14, millis: 1_700_000_000_001, payload: "three parts"},
		{from: 15, to: 14, millis: 1_700_000_000_002, payload: ""},
	}, got)
	require.Equal(t, uint64(10), rec.Header.After)
	require.Equal(t, uint64(1000), rec.Reserved)
	require.True(t, rec.Clean)
	require.Equal(t, [8]byte{0xa0, 1, 2, 3, 4, 5, 6, 7}, rec.Header.Log)
	add(t, l, numbered(15, 10))
}
