package wal

import (
	"fmt"
	"iter"
)

const (
	// MaxPayload is the longest payload of one frame, in bytes.
	MaxPayload = 256 << 20

	// SpillBytes is the payload length, in bytes, above which a block should
	// be written in parts, so that neither its writer nor a reader has to
	// hold more than about this much of it.
	SpillBytes = 16 << 20
)

// A Block is the unit of the log: the writes of one statement or batch.
type Block struct {
	// From and To are the first and the last change sequence of the block.
	// To is From-1 for a block that takes no number of its own.
	From, To uint64

	// UnixMilli is the wall-clock time of the block.
	UnixMilli int64

	// Payload is what the block holds; the log does not look inside. It is
	// nil for a block read back from several parts: see Parts.
	Payload []byte

	spilled *spilled
}

// Parts yields the payload of a block in order, part by part: once for a block
// of a single frame. A part is valid until the next one is asked for. Parts of
// a block that was handed to a callback may be read only until the callback
// returns. After an error the sequence ends.
func (b *Block) Parts() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if b.spilled == nil {
			yield(b.Payload, nil)
			return
		}
		for _, p := range b.spilled.parts {
			payload, err := b.spilled.read(p)
			if !yield(payload, err) || err != nil {
				return
			}
		}
	}
}

// check reports why b cannot follow a block that ends at sequence last.
func (b *Block) check(last uint64) error {
	switch {
	case len(b.Payload) > MaxPayload:
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(b.Payload))
	case b.spilled != nil:
		return fmt.Errorf("%w: it was read from several parts", ErrOrder)
	case b.From <= last:
		return fmt.Errorf("%w: from %d after %d", ErrOrder, b.From, last)
	case b.To < b.From-1 || b.To-(b.From-1) > maxCount:
		return fmt.Errorf("%w: from %d to %d", ErrOrder, b.From, b.To)
	}
	return nil
}

// spilled is where the parts of a block lie in the file they were read from.
type spilled struct {
	read  func(part) ([]byte, error)
	parts []part
}

// part is the payload of one frame.
type part struct {
	off int64 // of the payload
	n   int
	sum uint32 // of payload and padding
}
