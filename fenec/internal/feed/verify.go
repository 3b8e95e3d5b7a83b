package feed

import (
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Verify compares the stored feed that v sees with what its head says, and every
// chunk with its checksum. It returns what does not agree.
func Verify(v *store.View) error {
	b, err := v.Get(Space, headKey)
	if b == nil || err != nil {
		return err
	}
	k, err := decodeHead(b)
	if err != nil {
		return err
	}
	var c counter
	it := v.Iter(Space, numberKey(1), nil)
	for it.First(); it.Valid(); it.Next() {
		c.take(it.Key(), it.Value())
	}
	c.check(it.Err())
	if c.bytes != k.bytes || c.last > k.upTo {
		c.check(fmt.Errorf("%w: %d bytes up to %d, the head says %d up to %d", ErrCorrupt, c.bytes, c.last, k.bytes, k.upTo))
	}
	return errors.Join(c.found...)
}

// counter adds up what is stored.
type counter struct {
	bytes int64
	last  uint64
	found []error
}

func (c *counter) check(err error) {
	if err != nil {
		c.found = append(c.found, err)
	}
}

func (c *counter) take(key, value []byte) {
	c.bytes += int64(len(key) + len(value))
	w, err := copyChunk(key, value)
	if err != nil {
		c.check(err)
		return
	}
	if w.first <= c.last {
		c.check(fmt.Errorf("%w: the chunk of %d begins before %d", ErrCorrupt, w.first, c.last))
	}
	for w.next() {
		c.last = w.entry.Seq
	}
	c.check(w.err)
}
