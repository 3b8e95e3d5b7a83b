package feed

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// folded is what a fold makes of the feed.
type folded struct {
	known
	first uint64 // number of the last chunk that was written
	size  int64  // it takes up, with its key; 0 if it is not there
}

// Fold returns what a fold up to upTo writes: the head, the chunks from memory, and
// the deletes of chunks that are pushed out; of a feed that is off, that it goes.
// tx is the base before it. With Folded and Waits it makes a Feed a store.Owner.
func (f *Feed) Fold(tx *base.Tx, upTo uint64) ([]base.Change, error) {
	f.mu.Lock()
	if !f.On() {
		defer f.mu.Unlock()
		if !f.stored {
			return nil, nil
		}
		return []base.Change{{Op: base.OpDropSpace, Space: Space}}, nil
	}
	k := f.known
	d := folding{from: max(k.upTo, k.horizon), upTo: upTo, bytes: k.bytes, horizon: k.horizon}
	chunks := append([]chunk(nil), f.tail.chunks[f.tail.index(d.from):]...)
	f.mu.Unlock()

	if err := d.take(chunks); err != nil {
		return nil, err
	}
	var last uint64 // chunk that is written
	if n := len(d.written); n > 0 {
		last = d.written[n-1].first
	}
	if err := d.pushOut(tx, f.limit); err != nil {
		return nil, err
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	// Before the chunks are gone, so that no reader misses them unawares.
	f.pushOutLocked(d.horizon)
	f.folded = folded{known: known{upTo: upTo, horizon: min(f.known.horizon, upTo), bytes: d.bytes}, first: last}
	if n := len(d.written); n > 0 {
		f.folded.size = d.written[n-1].size()
	}
	return d.changes(f.folded.append(nil)), nil
}

// Folded makes known what the last Fold returned. What has been folded leaves the
// memory.
func (f *Feed) Folded(upTo uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.On() {
		f.stored = false
		return
	}
	f.known.upTo, f.known.bytes = f.folded.upTo, f.folded.bytes
	f.tail.foldedTo(upTo)
	if t := f.tail.chunks; len(t) > 0 && t[0].first == f.folded.first {
		t[0].stored = f.folded.size
	}
}

// Waits reports whether the base holds more of the feed than it should.
func (f *Feed) Waits() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.On() {
		return f.stored
	}
	return f.known.bytes > f.limit
}

// folding is one fold.
type folding struct {
	from, upTo uint64 // of the entries that are folded
	written    []written
	gone       [][]byte // keys of chunks pushed out
	bytes      int64    // of all chunks with their keys
	horizon    uint64
}

// written is a chunk that goes into the base.
type written struct {
	first, last uint64
	value       []byte // with its checksum
}

func (w *written) size() int64 { return int64(keyBytes + len(w.value)) }

// take takes what is to be written of the chunks of the tail.
func (d *folding) take(chunks []chunk) error {
	for i := range chunks {
		c := &chunks[i]
		if c.first > d.upTo {
			break
		}
		data, last := c.data, c.last
		if last > d.upTo {
			var err error
			if data, last, err = c.until(d.upTo); err != nil {
				return err
			}
		}
		if last <= d.from {
			continue
		}
		if i == len(chunks)-1 || last != c.last {
			// The checksum would be where the next entries go or are.
			data = append(make([]byte, 0, len(data)+sumBytes), data...)
		}
		w := written{c.first, last, row.Seal(data)}
		d.bytes += w.size() - c.stored
		d.written = append(d.written, w)
	}
	return nil
}

// until returns the data of the entries up to upTo, where a group ends, and the
// number of the last of them.
func (c *chunk) until(upTo uint64) (data []byte, last uint64, err error) {
	w := newWalk(c.first, c.data)
	end := 0
	for w.next() && w.entry.Seq <= upTo {
		end, last = len(c.data)-len(w.rest), w.entry.Seq
	}
	return c.data[:end], last, w.err
}

// pushOut takes out the oldest chunks: those without an entry past the horizon, and
// as many more as it takes to stay within most bytes.
func (d *folding) pushOut(tx *base.Tx, most int64) error {
	c, err := tx.Cursor(Space)
	if err != nil {
		return err
	}
	for err = c.SeekGE(numberKey(1)); err == nil && c.Key != nil && !d.writes(c.Key); {
		key, size := bytes.Clone(c.Key), int64(len(c.Key)+len(c.Value))
		if err = c.Next(); err != nil {
			break
		}
		end := d.upTo
		if len(d.written) > 0 {
			end = d.written[0].first - 1
		}
		if c.Key != nil {
			if end, err = chunkNumber(c.Key); err != nil {
				break
			}
			end--
		}
		if end > d.horizon && d.bytes <= most {
			return nil
		}
		d.takeOut(key, end, size)
	}
	for err == nil && len(d.written) > 0 && d.bytes > most {
		w := &d.written[0]
		d.takeOut(numberKey(w.first), w.last, w.size())
		d.written = d.written[1:]
	}
	return err
}

// writes reports whether the chunk under key is the first to be written.
func (d *folding) writes(key []byte) bool {
	return len(d.written) > 0 && bytes.Equal(key, numberKey(d.written[0].first))
}

// takeOut takes out a chunk whose last entry is at or before end.
func (d *folding) takeOut(key []byte, end uint64, size int64) {
	d.gone = append(d.gone, key)
	d.bytes -= size
	d.horizon = max(d.horizon, end)
}

// changes returns the changes in order of their keys.
func (d *folding) changes(head []byte) []base.Change {
	out := make([]base.Change, 0, 1+len(d.gone)+len(d.written))
	out = append(out, base.Change{Space: Space, Key: headKey, Value: head})
	for _, key := range d.gone {
		out = append(out, base.Change{Op: base.OpDelete, Space: Space, Key: key})
	}
	for i := range d.written {
		w := &d.written[i]
		out = append(out, base.Change{Space: Space, Key: numberKey(w.first), Value: w.value})
	}
	return out
}
