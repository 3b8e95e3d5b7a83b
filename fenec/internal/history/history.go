package history

import (
	"errors"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Limits bound a history. What is beyond them is pushed out, oldest first.
type Limits struct {
	Entries uint64 // 0 keeps none
	Bytes   int64  // of the chunks in the file, and of the entries in memory
}

// History is the change history of one store. Its methods are safe for
// concurrent use.
type History struct {
	limits Limits

	mu     sync.Mutex // guards the fields below
	known  known
	opened uint64 // the sequence that numbers went on from when the store was opened
	tail   tail   // Invariant: every entry past known.upTo and the horizon is in it
	folded known  // what the last Fold makes of it
}

// New returns the history of a new store.
func New(limits Limits) *History {
	if limits.Bytes <= 0 {
		limits.Entries = 0
	}
	return &History{limits: limits}
}

// Load reads what is known of the history stored in the base that v sees. Call
// it before anything else. A base that was folded by a program without a
// history begins one where it stands.
func (h *History) Load(v *store.View) error {
	b, err := v.Get(Space, headKey)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = known{upTo: v.Seq(), horizon: v.Seq()}
	if b == nil {
		return nil
	}
	k, err := decodeHead(b)
	if err != nil {
		return err
	}
	h.known.bytes = k.bytes // to be deleted, if nothing else
	if k.upTo == v.Seq() {
		h.known = k
	}
	h.boundLocked()
	return nil
}

// Opened says that the store is open at seq, which may be past numbers that were
// handed out and lost.
func (h *History) Opened(seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = seq
}

// Sure reports whether everything that anybody can have seen at seq is there.
// It is not if seq lies among numbers without entries, other than at their end,
// from which numbers went on.
func (h *History) Sure(seq uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.known.horizon
	for _, r := range h.known.ranges {
		if seq < r.first {
			return seq <= last || seq == r.first-1
		}
		last = r.last
	}
	return seq <= last || seq >= h.opened
}

// Append adds the entries of a block that began at number first. The notes are
// not kept. Blocks come in order.
func (h *History) Append(first uint64, at int64, n *Notes) {
	if len(n.list) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.limits.Entries == 0 {
		h.known.pushOut(first + uint64(len(n.list)) - 1)
		return
	}
	h.known.add(first, uint64(len(n.list)))
	h.tail.append(first, at, n.list)
	for _, d := range n.dropped {
		d.seq += first
		h.known.drop(d)
	}
	h.boundLocked()
}

// boundLocked pushes out what is too much in number, or in memory.
func (h *History) boundLocked() {
	h.known.bound(h.limits.Entries)
	t := &h.tail
	for t.bytes > h.limits.Bytes && len(t.segments) > 1 {
		h.known.pushOut(t.segments[0].last())
		t.dropTo(h.known.horizon)
	}
	t.dropTo(h.known.horizon)
}

// Horizon returns the smallest cursor that can be continued.
func (h *History) Horizon() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known.horizon
}

// Last returns the number of the last entry that was appended, or, if there is
// none, the horizon.
func (h *History) Last() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.known.ranges); n > 0 {
		return h.known.ranges[n-1].last
	}
	return h.known.horizon
}

// Stats are figures of a history.
type Stats struct {
	Horizon     uint64
	Entries     uint64
	Bytes       int64 // in the file and in memory
	MemoryBytes int64
}

// Stats returns the figures of the moment.
func (h *History) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := &h.known
	return Stats{k.horizon, k.entries, k.bytes + h.tail.bytes, h.tail.bytes}
}

// Name returns what a collection was called that was dropped past the horizon,
// or "" if that is not known.
func (h *History) Name(collection uint32) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.known.dropped {
		if d.number == collection {
			return d.name
		}
	}
	return ""
}

// errStop ends a walk over the base early.
var errStop = errors.New("stop")

// Read calls fn with the entries past after and up to upTo, in order, until it
// returns false. It returns the horizon and false if that has passed after:
// then fn has been given all, some or none of them, and nothing can be
// concluded. open returns the base as it is.
func (h *History) Read(open func() (*base.Tx, error), after, upTo uint64, fn func(Entry) bool) (horizon uint64, ok bool, err error) {
	// The memory first: what is folded after this look is in the base that is
	// opened later, and in the copies too, beyond upTo of the former.
	h.mu.Lock()
	horizon, stored := h.known.horizon, h.known.upTo
	var memory []segment
	if after >= horizon {
		memory = h.tail.after(max(after, stored))
	}
	h.mu.Unlock()
	if after < horizon {
		return horizon, false, nil
	}
	if after < stored {
		err := h.readBase(open, after, min(stored, upTo), fn)
		if horizon = h.Horizon(); horizon > after {
			return horizon, false, nil // it has passed, with or without the chunks
		}
		if errors.Is(err, errStop) {
			return horizon, true, nil
		}
		if err != nil {
			return horizon, false, err
		}
	}
	for i := range memory {
		if !memory[i].each(max(after, stored), upTo, fn) {
			break
		}
	}
	return horizon, true, nil
}

// readBase reads entries of the base in (after, upTo]. It returns errStop if fn
// ended it.
func (h *History) readBase(open func() (*base.Tx, error), after, upTo uint64, fn func(Entry) bool) error {
	tx, err := open()
	if err != nil {
		return err
	}
	defer tx.Release()
	c, err := tx.Cursor(Space)
	if err != nil {
		return err
	}
	// The last chunk that begins at or before the first entry, if there is one.
	err = c.SeekLT(numberKey(after + 2))
	if err == nil && (c.Key == nil || isHead(c.Key)) {
		err = c.SeekGE(numberKey(1))
	}
	for ; err == nil && c.Key != nil; err = c.Next() {
		first, err := chunkNumber(c.Key)
		if err != nil || first > upTo {
			return err
		}
		if err := readChunk(first, c.Value, after, upTo, fn); err != nil {
			return err
		}
	}
	return err
}

// readChunk calls fn with the entries of a stored chunk in (after, upTo].
func readChunk(first uint64, value []byte, after, upTo uint64, fn func(Entry) bool) error {
	c, err := openChunk(first, value)
	if err != nil {
		return err
	}
	for len(c.data) > 0 {
		e, err := c.next()
		if err != nil || e.Seq > upTo {
			return err
		}
		if e.Seq > after && !fn(e) {
			return errStop
		}
	}
	return nil
}
