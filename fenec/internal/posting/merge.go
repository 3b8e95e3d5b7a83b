package posting

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A chunk of fewer than joinBelow bytes of blocks and table is joined with those
// that follow until it has joinUpTo.
const (
	joinBelow = maxChunkBytes / 4
	joinUpTo  = maxChunkBytes / 2
)

// Change is a new value of a key, or nil if the key is to be deleted.
type Change struct{ Key, Value []byte }

// Merge folds changes of one term, of ascending ids without repetition, into
// its chunks, which are read through c. It returns what is to be changed, by
// ascending key, and only chunks that differ from what is stored. A posting that
// is gone need not have been there. Damage to a chunk that is looked at is
// ErrCorrupt. changes is not kept.
func Merge(kind Kind, c Cursor, prefix []byte, changes []Posting) ([]Change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	m := merger{kind: kind, cursor: c, prefix: prefix, changes: changes, pack: newPacker(kind, prefix)}
	if err := m.run(); err != nil {
		return nil, err
	}
	slices.SortFunc(m.out, func(a, b Change) int { return bytes.Compare(a.Key, b.Key) })
	return m.out, nil
}

// merger goes through the chunks that changes fall into, one region of
// neighbouring chunks at a time.
type merger struct {
	kind    Kind
	cursor  Cursor
	prefix  []byte
	changes []Posting // not merged yet
	pack    packer
	out     []Change

	head  head      // as it will be
	first []Posting // of the head's chunk, as it will be
	old   []byte    // the head's bytes

	// The region at hand.
	stored []Change  // its chunks, copied
	merged []Posting // its postings, as they will be
	next   []byte    // key of the chunk after it; nil if there is none

	sought bool // the cursor came by SeekLT, and Next is not allowed
}

func (m *merger) run() error {
	if err := m.openHead(); err != nil {
		return err
	}
	if err := m.headRegion(); err != nil {
		return err
	}
	for len(m.changes) > 0 {
		if err := m.region(); err != nil {
			return err
		}
	}
	m.putHead()
	return nil
}

// openHead reads the head's chunk, if the term has one, as the first of a region.
func (m *merger) openHead() error {
	m.cursor.SeekGE(m.prefix)
	if !m.cursor.Valid() || !bytes.HasPrefix(m.cursor.Key(), m.prefix) {
		return m.cursor.Err()
	}
	if len(m.cursor.Key()) != len(m.prefix) {
		return corrupt(m.cursor.Key(), "no head before it")
	}
	m.old = bytes.Clone(m.cursor.Value())
	return m.take(&m.head)
}

// headRegion merges the head's chunk, and what it is joined with. Even if no
// change falls into it, the number of postings in it may.
func (m *merger) headRegion() error {
	if m.old == nil {
		m.mergeUpTo(nil, false)
	} else if err := m.finishRegion(); err != nil {
		return err
	}
	if m.next == nil {
		if m.head.df != uint64(len(m.merged)) {
			return corrupt(m.prefix, "%d postings more or less than the head says", int64(m.head.df)-int64(len(m.merged)))
		}
		m.head.bound = bound{}
		for i := range m.merged {
			m.head.bound.add(m.kind, &m.merged[i])
		}
	}
	parts := m.parts()
	if len(parts) > 0 {
		m.first, parts = slices.Clone(parts[0].postings), parts[1:]
	}
	m.put(parts)
	return nil
}

// region merges the chunk that the next change falls into, which is not the
// head's.
func (m *merger) region() error {
	m.cursor.SeekLT(chunkKey(nil, m.prefix, m.changes[0].ID+1))
	m.sought = true
	if !m.cursor.Valid() || !bytes.HasPrefix(m.cursor.Key(), m.prefix) {
		return m.lost()
	}
	m.merged, m.stored = m.merged[:0], m.stored[:0]
	if err := m.take(nil); err != nil {
		return err
	}
	if err := m.finishRegion(); err != nil {
		return err
	}
	m.put(m.parts())
	return nil
}

// lost is the error of a chunk that was there before.
func (m *merger) lost() error {
	if err := m.cursor.Err(); err != nil {
		return err
	}
	return corrupt(m.prefix, "a chunk is not where it was")
}

// take appends the stored postings of the chunk that the cursor stands at to
// those of the region, and moves on to see what follows.
func (m *merger) take(h *head) error {
	key, from := bytes.Clone(m.cursor.Key()), len(m.merged)
	if h == nil && len(key) != len(m.prefix)+8 {
		return corrupt(key, "no key of a chunk")
	}
	var err error
	if m.merged, err = appendPostings(m.merged, m.kind, m.pack.enc.seed, key, m.cursor.Value(), h); err != nil {
		return err
	}
	if first := m.merged[from].ID; h == nil && binary.BigEndian.Uint64(key[len(m.prefix):]) != first {
		return corrupt(key, "a chunk whose first id is %d", first)
	}
	m.stored = append(m.stored, Change{key, bytes.Clone(m.cursor.Value())})
	m.follow(key)
	m.next = nil
	if m.cursor.Valid() && bytes.HasPrefix(m.cursor.Key(), m.prefix) {
		m.next = bytes.Clone(m.cursor.Key())
		if len(m.next) != len(m.prefix)+8 || binary.BigEndian.Uint64(m.next[len(m.prefix):]) <= m.merged[len(m.merged)-1].ID {
			return corrupt(m.next, "no key of a chunk that follows")
		}
	}
	m.mergeUpTo(m.merged[from:], m.next != nil)
	return m.cursor.Err()
}

// follow moves the cursor to the key after the one it stands at.
func (m *merger) follow(key []byte) {
	if m.sought {
		m.cursor.SeekGE(append(bytes.Clone(key), 0))
		m.sought = false
		return
	}
	m.cursor.Next()
}

// mergeUpTo replaces stored, the last postings of the region, by what the changes
// before the next chunk make of them.
func (m *merger) mergeUpTo(stored []Posting, bounded bool) {
	n := len(m.changes)
	if bounded {
		limit := binary.BigEndian.Uint64(m.next[len(m.prefix):])
		n, _ = slices.BinarySearchFunc(m.changes, limit, byID)
	}
	old := slices.Clone(stored)
	m.merged = m.merged[:len(m.merged)-len(stored)]
	before := len(m.merged)
	for i := range m.changes[:n] {
		change := &m.changes[i]
		for len(old) > 0 && old[0].ID < change.ID {
			m.merged, old = append(m.merged, old[0]), old[1:]
		}
		if len(old) > 0 && old[0].ID == change.ID {
			old = old[1:]
		}
		if !change.Gone {
			m.merged = append(m.merged, *change)
			m.head.bound.add(m.kind, change)
		}
	}
	m.merged = append(m.merged, old...)
	m.head.df += uint64(len(m.merged) - before - len(stored)) // mod 2^64
	m.changes = m.changes[n:]
}

// finishRegion adds following chunks to the region until it is not too small.
func (m *merger) finishRegion() error {
	for limit := joinBelow; m.next != nil && m.below(limit); limit = joinUpTo {
		if !m.cursor.Valid() || !bytes.Equal(m.cursor.Key(), m.next) {
			return m.lost()
		}
		if err := m.take(nil); err != nil {
			return err
		}
	}
	return nil
}

// below reports whether the region's postings would make a chunk of fewer bytes
// than limit.
func (m *merger) below(limit int) bool {
	if len(m.merged) == 0 {
		return true
	}
	if len(m.merged) > maxChunk || m.pack.fill(m.merged) < len(m.merged) {
		return false
	}
	e := &m.pack.enc
	return len(e.arrays)+len(e.blocks)*entrySize(m.kind, e.wide()) < limit
}

// parts returns the chunks of the region's postings.
func (m *merger) parts() []part {
	if m.next == nil {
		return m.pack.full(m.merged)
	}
	return m.pack.even(m.merged)
}

// put replaces the stored chunks of the region by these. The head's is left to
// putHead.
func (m *merger) put(parts []part) {
	stored := m.stored
	for _, part := range parts {
		c := Change{chunkKey(nil, m.prefix, part.postings[0].ID), part.chunk}
		at := slices.IndexFunc(stored, func(s Change) bool { return bytes.Equal(s.Key, c.Key) })
		if at >= 0 {
			same := bytes.Equal(stored[at].Value, c.Value)
			if stored = slices.Delete(stored, at, at+1); same {
				continue
			}
		}
		m.out = append(m.out, c)
	}
	for _, s := range stored {
		if len(s.Key) != len(m.prefix) {
			m.out = append(m.out, Change{Key: s.Key})
		}
	}
}

// putHead writes the head, whose number of postings is known by now.
func (m *merger) putHead() {
	var value []byte
	if len(m.first) > 0 {
		value = m.pack.encode(m.first, &m.head)
	}
	if !bytes.Equal(value, m.old) {
		m.out = append(m.out, Change{bytes.Clone(m.prefix), value})
	}
}
