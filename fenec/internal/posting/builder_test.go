package posting

import "bytes"

// Builder makes the chunks of terms that have none yet, as tests and benchmarks
// begin with. It holds those of the
// term at hand, as the head, which comes first, says how many postings there are.
type Builder struct {
	kind   Kind
	pack   packer // of the term at hand
	emit   func(key, value []byte) error
	prefix []byte
	head   head

	pending []Posting // not in a chunk yet; the head's, until the term is complete
	first   []Posting // of the head's chunk, once it is full
	further []Change  // the chunks after the head
}

// NewBuilder returns a builder that hands every key and its value to emit, which
// may keep them, in ascending order if the terms come so.
func NewBuilder(kind Kind, emit func(key, value []byte) error) *Builder {
	return &Builder{kind: kind, emit: emit}
}

// Add adds a posting of the term of this prefix. Those of a term come in a row,
// by ascending id. prefix is not kept.
func (b *Builder) Add(prefix []byte, p Posting) error {
	if b.head.df > 0 && !bytes.Equal(prefix, b.prefix) {
		if err := b.Close(); err != nil {
			return err
		}
	}
	if b.head.df == 0 {
		b.prefix, b.pack = append(b.prefix[:0], prefix...), newPacker(b.kind, prefix)
	}
	b.head.df++
	b.head.bound.add(b.kind, &p)
	if b.pending = append(b.pending, p); len(b.pending) == 2*maxChunk {
		b.drain(maxChunk)
	}
	return nil
}

// Close hands over what is left. The builder may be used again.
func (b *Builder) Close() error {
	if b.head.df == 0 {
		return nil
	}
	b.drain(0)
	err := b.emit(bytes.Clone(b.prefix), b.pack.encode(b.first, &b.head))
	for _, c := range b.further {
		if err == nil {
			err = b.emit(c.Key, c.Value)
		}
	}
	b.head, b.first, b.further = head{}, b.first[:0], b.further[:0]
	return err
}

// drain makes chunks until at most keep postings are pending. A chunk made while
// that many are left behind it is a full one.
func (b *Builder) drain(keep int) {
	ps := b.pending
	for len(ps) > keep {
		n := b.pack.fill(ps)
		if len(b.first) == 0 {
			b.first = append(b.first, ps[:n]...)
		} else {
			b.further = append(b.further, Change{chunkKey(nil, b.prefix, ps[0].ID), b.pack.enc.finish(nil)})
		}
		ps = ps[n:]
	}
	b.pending = b.pending[:copy(b.pending, ps)]
}
