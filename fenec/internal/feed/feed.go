package feed

import (
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Feed keeps the latest blocks of one store. Begin, Add and Append belong to
// whoever holds the store's write lock; the other methods are safe for concurrent
// use.
type Feed struct {
	limit int64 // bytes, in the file and again in memory; 0 keeps nothing
	open  open  // guarded by the store's write lock

	mu     sync.Mutex // guards the fields below
	known  known
	stored bool   // the base holds a feed though none is to be kept
	tail   tail   // Invariant: every entry past known.upTo and the horizon is in it
	folded folded // what the last Fold makes of it
}

// New returns the feed of a new store, which takes up about limit bytes; 0 keeps
// nothing.
func New(limit int64) *Feed {
	f := &Feed{limit: max(limit, 0)}
	f.open.limit = f.limit
	f.tail.size = int(min(max(f.limit/8, leastChunk), chunkBytes))
	return f
}

// On reports whether the feed keeps anything.
func (f *Feed) On() bool { return f.limit > 0 }

// Load reads what is known of the feed stored in the base that v sees. Call it
// before anything else. A base that was folded by a program without a feed begins
// one where it stands.
func (f *Feed) Load(v *store.View) error {
	b, err := v.Get(Space, headKey)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = known{upTo: v.Seq(), horizon: v.Seq()}
	f.stored = b != nil
	if b == nil || !f.On() {
		return nil
	}
	k, err := decodeHead(b)
	if err != nil {
		return err
	}
	f.known.bytes = k.bytes // to be deleted, if nothing else
	if k.upTo != v.Seq() {
		return nil
	}
	f.known = k
	return f.takeUpLast(v)
}

// takeUpLast goes on with the last stored chunk, if it is short and whole.
func (f *Feed) takeUpLast(v *store.View) error {
	it := v.Iter(Space, numberKey(1), nil)
	it.Last()
	if !it.Valid() || len(it.Value()) > f.tail.shortBytes() {
		return it.Err()
	}
	first, err := chunkNumber(it.Key())
	if err != nil {
		return err
	}
	c, err := reopenChunk(first, it.Value())
	if err != nil || c.last <= f.known.horizon || c.last > f.known.upTo {
		return nil // a damaged one stays as it is: readers will tell
	}
	f.tail.takeUp(c)
	return nil
}

// Begin forgets what was added of a block that was not appended.
func (f *Feed) Begin() { f.open.reset() }

// Add adds the next operation of the open block, on a collection that is defined
// as col says once it is done. op is not kept.
func (f *Feed) Add(col *catalog.Collection, op []byte) { f.open.add(col, op) }

// Append makes the operations added since Begin part of the feed. They are a block,
// or the next part of one, that began at number block, and the first of them has
// number first. at is the block's time in milliseconds. Blocks come in order.
func (f *Feed) Append(block, first uint64, at int64) {
	if f.open.count == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open.over {
		f.pushOutLocked(first + f.open.count - 1)
		return
	}
	f.open.each(func(g group) {
		g.block, g.first, g.at = block, g.first+first, at
		f.tail.append(g)
	})
	for f.tail.bytes > f.limit && len(f.tail.chunks) > 1 {
		f.pushOutLocked(f.tail.chunks[0].last)
	}
}

// pushOutLocked raises the horizon.
func (f *Feed) pushOutLocked(horizon uint64) {
	if horizon > f.known.horizon {
		f.known.horizon = horizon
		f.tail.dropTo(horizon)
	}
}

// Horizon returns the smallest cursor that can be continued.
func (f *Feed) Horizon() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known.horizon
}

// Stats are figures of a feed.
type Stats struct {
	Horizon     uint64
	Bytes       int64 // in the file and in memory
	MemoryBytes int64
}

// Stats returns the figures of the moment.
func (f *Feed) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Stats{f.known.horizon, f.known.bytes + f.tail.bytes, f.tail.held()}
}
