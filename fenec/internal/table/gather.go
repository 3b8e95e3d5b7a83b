package table

import (
	"bytes"
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// gatherBytes is how many bytes of entries are gathered at once.
const gatherBytes = 16 << 20

// Gather returns entries of x, an index of r's collection, for the rows from
// the id first on, and the id to go on from; 0 when those were all.
func (r *Reader) Gather(ctx context.Context, x *catalog.Index, first uint64) (entries []store.Entry, next uint64, err error) {
	s := r.Scan(first, ^uint64(0), false)
	size := 0
	var e []byte
	for n := 1; s.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if size >= gatherBytes {
			return entries, s.ID(), nil
		}
		doc, err := row.Parse(s.Row())
		if err != nil {
			return nil, 0, err
		}
		if e, err = appendEntry(e[:0], r.col, x, s.ID(), &doc); err != nil {
			return nil, 0, err
		}
		entries = append(entries, store.Entry{Key: bytes.Clone(e)})
		size += len(e)
	}
	return entries, 0, s.Err()
}
