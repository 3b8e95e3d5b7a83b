package history

import (
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Verify compares the stored history that v sees with what its head says, and
// every chunk with its checksum. It returns what does not agree.
func Verify(v *store.View) error {
	b, err := v.Get(Space, headKey)
	if b == nil || err != nil {
		return err
	}
	k, err := decodeHead(b)
	if err != nil {
		return err
	}
	c := counter{horizon: k.horizon}
	it := v.Iter(Space, numberKey(1), nil)
	for it.First(); it.Valid(); it.Next() {
		c.take(it.Key(), it.Value())
	}
	c.check(it.Err())
	if c.entries != k.entries || c.bytes != k.bytes || c.last > k.upTo {
		c.check(fmt.Errorf("%w: %d entries and %d bytes up to %d, the head says %d and %d up to %d",
			ErrCorrupt, c.entries, c.bytes, c.last, k.entries, k.bytes, k.upTo))
	}
	return errors.Join(c.found...)
}

// counter adds up what is stored.
type counter struct {
	horizon uint64
	entries uint64 // past the horizon
	bytes   int64
	last    uint64
	found   []error
}

func (c *counter) check(err error) {
	if err != nil {
		c.found = append(c.found, err)
	}
}

func (c *counter) take(key, value []byte) {
	c.bytes += int64(len(key) + len(value))
	first, err := chunkNumber(key)
	if err == nil && first <= c.last {
		err = fmt.Errorf("%w: the chunk of %d begins before %d", ErrCorrupt, first, c.last)
	}
	if err == nil {
		err = readChunk(first, value, c.horizon, ^uint64(0), func(Entry) bool {
			c.entries++
			return true
		})
	}
	c.check(err)
	if walk, err := openChunk(first, value); err == nil {
		for err == nil && len(walk.data) > 0 {
			_, err = walk.next()
		}
		c.last = walk.last.Seq
	}
}
