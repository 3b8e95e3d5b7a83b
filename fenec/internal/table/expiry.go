package table

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Expired reports whether the row b of c is expired at now, in milliseconds
// since 1970. Rows of a collection without a ttl never are.
func Expired(c *catalog.Collection, b []byte, now int64) (bool, error) {
	field, cutoff, ok := c.Cutoff(now)
	if !ok {
		return false, nil
	}
	v, err := row.View(b, field, value.TypeTimestamp)
	return err == nil && !v.IsNull() && v.AsInt() <= cutoff, err
}

// ExpiredIDs returns the ids of rows that are expired at now, at most so many,
// those expired longest first.
func (r *Reader) ExpiredIDs(now int64, most int) ([]uint64, error) {
	var ids []uint64
	err := r.expired(now, func(id uint64) bool {
		ids = append(ids, id)
		return len(ids) < most
	})
	return ids, err
}

// ExpiredRows returns how many rows are expired at now.
func (r *Reader) ExpiredRows(now int64) (n int64, err error) {
	err = r.expired(now, func(uint64) bool {
		n++
		return true
	})
	return n, err
}

// expired calls visit with the ids of the rows expired at now, for as long as
// it returns true.
func (r *Reader) expired(now int64, visit func(id uint64) bool) error {
	_, cutoff, ok := r.col.Cutoff(now)
	if !ok {
		return nil
	}
	s := r.Index(r.col.TTL(), key.Next(nullKey), key.Next(key.Append(nil, value.Timestamp(cutoff))), false)
	for s.Next() && visit(s.ID()) {
	}
	return s.Err()
}

// nullKey is the key of null, which the entries of an index begin with.
var nullKey = key.Append(nil, value.Null)
