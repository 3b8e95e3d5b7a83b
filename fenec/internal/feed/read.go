package feed

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// Read calls fn with the entries past after and up to upTo, in order, until it
// returns false. Everything up to upTo must have been appended. It returns the
// horizon and false if that has passed what fn was to be given next. open returns
// the base as it is; Read has it for as long as it takes to copy a chunk.
func (f *Feed) Read(open func() (*base.Tx, error), after, upTo uint64, fn func(Entry) bool) (horizon uint64, ok bool, err error) {
	if horizon = f.Horizon(); after < horizon {
		return horizon, false, nil
	}
	for after < upTo {
		p, err := f.at(open, after)
		if p.horizon > after || err != nil {
			return p.horizon, false, err
		}
		if p.walk == nil && p.end <= after {
			break
		}
		after = max(after, p.end)
		for p.walk != nil && p.walk.next() {
			e := p.walk.entry
			if e.Seq > upTo || !fn(e) {
				return p.horizon, true, nil
			}
			after = e.Seq
		}
		if p.walk != nil && p.walk.err != nil {
			return p.horizon, false, p.walk.err
		}
	}
	return horizon, true, nil
}

// place is where reading goes on.
type place struct {
	walk    *walk  // before the next entry; nil if there is none
	end     uint64 // there is none up to here
	horizon uint64 // if it is past what was asked for, nothing else is known
}

// at returns the place past after.
func (f *Feed) at(open func() (*base.Tx, error), after uint64) (place, error) {
	// The memory first: what is folded after this look is in the base that is opened
	// later.
	f.mu.Lock()
	p := place{horizon: f.known.horizon}
	stored := f.known.upTo
	if after < p.horizon {
		f.mu.Unlock()
		return p, nil
	}
	if after >= stored {
		if i := f.tail.index(after); i < len(f.tail.chunks) {
			// A copy: a fold may give the memory to another chunk.
			p.walk = newWalk(f.tail.chunks[i].first, bytes.Clone(f.tail.chunks[i].data))
		}
		f.mu.Unlock()
		if p.walk != nil {
			p.walk.skipTo(after)
		}
		return p, nil
	}
	f.mu.Unlock()
	w, err := inBase(open, after)
	if p.horizon = f.Horizon(); p.horizon > after {
		return p, nil // it has passed, with or without the chunk
	}
	if p.walk = w; w == nil {
		p.end = stored
	}
	return p, err
}

// inBase returns a walk over a copy of the stored chunk with the first entry past
// after, before that; nil if there is none.
func inBase(open func() (*base.Tx, error), after uint64) (*walk, error) {
	tx, err := open()
	if err != nil {
		return nil, err
	}
	defer tx.Release()
	c, err := tx.Cursor(Space)
	if err != nil {
		return nil, err
	}
	// The last chunk that begins at or before the first entry, if there is one.
	err = c.SeekLT(numberKey(after + 2))
	if err == nil && (c.Key == nil || isHead(c.Key)) {
		err = c.SeekGE(numberKey(1))
	}
	for ; err == nil && c.Key != nil; err = c.Next() {
		w, err := copyChunk(c.Key, c.Value)
		if err != nil {
			return nil, err
		}
		if w.skipTo(after) || w.err != nil {
			return w, w.err
		}
	}
	return nil, err
}

// copyChunk returns a walk over a copy of a stored chunk.
func copyChunk(key, value []byte) (*walk, error) {
	first, err := chunkNumber(key)
	if err != nil {
		return nil, err
	}
	data, err := openChunk(first, value)
	if err != nil {
		return nil, err
	}
	return newWalk(first, bytes.Clone(data)), nil
}
