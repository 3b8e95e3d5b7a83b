package history

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// keyBytes is the length of the space's keys.
const keyBytes = 8

func chunkNumber(key []byte) (uint64, error) {
	if len(key) != keyBytes {
		return 0, fmt.Errorf("%w: a key of %d bytes", ErrCorrupt, len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}

func isHead(key []byte) bool {
	n, err := chunkNumber(key)
	return err == nil && n == 0
}

// Fold returns what a fold up to upTo writes: the head, the chunks of entries
// from the tail, and the deletes of chunks that are pushed out. tx is the base
// before it. With Folded it makes a History a store.Owner.
func (h *History) Fold(tx *base.Tx, upTo uint64) ([]base.Change, error) {
	h.mu.Lock()
	k := &h.known
	f := folding{from: max(k.upTo, k.horizon), upTo: upTo, bytes: k.bytes, horizon: k.horizon}
	segments := h.tail.after(f.from)
	h.mu.Unlock()

	if err := f.takeUpLast(tx); err != nil {
		return nil, err
	}
	f.pack(segments)
	if err := f.pushOut(tx, h.limits.Bytes); err != nil {
		return nil, err
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	// Before the chunks are gone, so that no reader misses them unawares.
	h.known.pushOut(f.horizon)
	h.folded = h.known.until(upTo)
	h.folded.bytes = f.bytes
	return f.changes(h.folded.append(nil)), nil
}

// Folded makes known what the last Fold returned. What has been folded leaves
// the tail.
func (h *History) Folded(upTo uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known.upTo, h.known.bytes = h.folded.upTo, h.folded.bytes
	h.tail.dropTo(upTo)
}

// Waits reports that nothing is folded but what blocks wrote.
func (h *History) Waits() bool { return false }

// folding is one fold.
type folding struct {
	from, upTo uint64   // of the entries that are folded
	chunks     []chunk  // to be written, sealed
	gone       [][]byte // keys of chunks pushed out
	bytes      int64    // of all chunks with their keys
	horizon    uint64
}

// takeUpLast begins with the last chunk, if it is short and whole.
func (f *folding) takeUpLast(tx *base.Tx) error {
	c, err := tx.Cursor(Space)
	if err != nil {
		return err
	}
	if err := c.SeekLT(nil); err != nil || c.Key == nil || isHead(c.Key) || len(c.Value) > extendBytes {
		return err
	}
	first, err := chunkNumber(c.Key)
	if err != nil {
		return err
	}
	last, err := openChunk(first, c.Value)
	data := bytes.Clone(last.data)
	for err == nil && len(last.data) > 0 {
		_, err = last.next()
	}
	if err != nil || last.last.Seq <= f.horizon {
		return nil // a damaged one stays as it is: readers will tell
	}
	last.data = data
	f.chunks = append(f.chunks, last)
	f.bytes -= int64(len(c.Key) + len(c.Value))
	return nil
}

// maxEntry is the length of the longest encoded entry with the chunk's
// checksum, in bytes.
const maxEntry = 1 + 10 + 10 + 5 + 10 + 4

// pack makes chunks of the tail's entries.
func (f *folding) pack(segments []segment) {
	for i := range segments {
		segments[i].each(f.from, f.upTo, func(e Entry) bool {
			if n := len(f.chunks); n == 0 || len(f.chunks[n-1].data) >= chunkBytes {
				f.chunks = append(f.chunks, newChunk(e.Seq, make([]byte, 0, chunkBytes+maxEntry)))
			}
			f.chunks[len(f.chunks)-1].add(e)
			return true
		})
	}
	for i := range f.chunks {
		c := &f.chunks[i]
		c.data = row.Seal(c.data)
		f.bytes += int64(keyBytes + len(c.data))
	}
}

// pushOut takes out the oldest chunks: those without an entry past the horizon,
// and as many more as it takes to stay within most bytes.
func (f *folding) pushOut(tx *base.Tx, most int64) error {
	c, err := tx.Cursor(Space)
	if err != nil {
		return err
	}
	for err = c.SeekGE(numberKey(1)); err == nil && c.Key != nil && !f.writes(c.Key); {
		key, size := bytes.Clone(c.Key), int64(len(c.Key)+len(c.Value))
		if err = c.Next(); err != nil {
			break
		}
		end := f.upTo
		if len(f.chunks) > 0 {
			end = f.chunks[0].first - 1
		}
		if c.Key != nil {
			if end, err = chunkNumber(c.Key); err != nil {
				break
			}
			end--
		}
		if end > f.horizon && f.bytes <= most {
			return nil
		}
		f.take(key, end, size)
	}
	for err == nil && len(f.chunks) > 0 && f.bytes > most {
		c := &f.chunks[0]
		f.take(numberKey(c.first), c.last.Seq, int64(keyBytes+len(c.data)))
		f.chunks = f.chunks[1:]
	}
	return err
}

// writes reports whether the chunk under key is among those to be written.
func (f *folding) writes(key []byte) bool {
	return len(f.chunks) > 0 && bytes.Equal(key, numberKey(f.chunks[0].first))
}

// take takes out a chunk whose last entry is at or before end.
func (f *folding) take(key []byte, end uint64, size int64) {
	f.gone = append(f.gone, key)
	f.bytes -= size
	f.horizon = max(f.horizon, end)
}

// changes returns the changes in order of their keys.
func (f *folding) changes(head []byte) []base.Change {
	out := []base.Change{{Space: Space, Key: headKey, Value: head}}
	for _, key := range f.gone {
		out = append(out, base.Change{Op: base.OpDelete, Space: Space, Key: key})
	}
	for i := range f.chunks {
		c := &f.chunks[i]
		out = append(out, base.Change{Space: Space, Key: numberKey(c.first), Value: c.data})
	}
	return out
}
