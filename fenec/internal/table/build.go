package table

import (
	"bytes"
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// checkEvery is after how many rows a build looks whether it is to go on.
const checkEvery = 1024

// build makes the entries of x, an index of c that has none yet, from the rows.
// A unique value that two rows hold is a fault.Duplicate.
func (t *Tx) build(ctx context.Context, c *catalog.Collection, x *catalog.Index) error {
	r := t.Reader(c)
	s := r.Scan(0, ^uint64(0), false)
	w := t.Writer(c)
	var none row.Row
	var e []byte
	for n := 1; s.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		doc, err := row.Parse(s.Row())
		if err != nil {
			return err
		}
		if x.Kind.Search() {
			if err := w.search(x, s.ID(), &none, &doc); err != nil {
				return err
			}
			continue
		}
		if e, err = appendEntry(e[:0], c, x, s.ID(), &doc); err != nil {
			return err
		}
		if err := t.block.Put(x.Space, e, nil); err != nil {
			return err
		}
	}
	if s.Err() != nil || x.Kind != catalog.Unique || t.replays {
		return s.Err()
	}
	return r.CheckDistinct(ctx, x)
}

// CheckDistinct returns a fault.Duplicate if two rows have one value in the
// unique index x. Equal values have entries side by side.
func (r *Reader) CheckDistinct(ctx context.Context, x *catalog.Index) error {
	var last []byte
	var ids []uint64 // of the rows before with that key
	s := r.Index(x, key.Next(nullKey), nil, false)
	for n := 1; s.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if k := s.ValueKey(); !bytes.Equal(k, last) {
			last, ids = append(last[:0], k...), ids[:0]
		}
		for _, id := range ids {
			if err := r.checkTwo(x, id, s.ID(), key.Cut(last)); err != nil {
				return err
			}
		}
		ids = append(ids, s.ID())
	}
	return s.Err()
}

// checkTwo reports that two rows with one key in the unique index x have one
// value, as they do unless the key is cut.
func (r *Reader) checkTwo(x *catalog.Index, first, second uint64, cut bool) error {
	b, err := r.Get(first)
	if b == nil || err != nil {
		return err
	}
	doc, err := row.Parse(b)
	if err != nil {
		return err
	}
	v, err := indexed(r.col, x, &doc)
	if err != nil {
		return err
	}
	if cut {
		same, err := r.holds(x, second, v)
		if !same || err != nil {
			return err
		}
	}
	return duplicate(r.col, x, v, "is held by id %d and id %d", first, second)
}
