package table

import (
	"bytes"
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// gatherBytes is about how many bytes of entries are gathered at once.
const gatherBytes = 16 << 20

// Gather returns entries of x, an index of r's collection that has no postings, for
// the rows from the id first on, and the id to go on from; 0 when those were all.
func (r *Reader) Gather(ctx context.Context, x *catalog.Index, first uint64) (entries []store.Entry, next uint64, err error) {
	s := r.Scan(first, ^uint64(0), false)
	g := gathering{search: entryOf{col: r.col, index: x, seq: r.view.Seq()}}
	g.search.to = &g
	for n := 1; s.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if g.size >= gatherBytes {
			return g.entries, s.ID(), nil
		}
		doc, err := row.Parse(s.Row())
		if err != nil {
			return nil, 0, err
		}
		if err := g.add(s.ID(), &doc); err != nil {
			return nil, 0, err
		}
	}
	return g.entries, 0, s.Err()
}

// gathering is entries in the making.
type gathering struct {
	search   entryOf
	searcher searcher
	entries  []store.Entry
	size     int // bytes of keys and values
}

// add adds the entries of a row.
func (g *gathering) add(id uint64, doc *row.Row) error {
	if x := g.search.index; !x.Kind.Search() {
		e, err := appendEntry(nil, g.search.col, x, id, doc)
		g.put(e, nil)
		return err
	}
	g.search.id = id
	var none row.Row
	_, _, err := g.searcher.change(&g.search, &none, doc)
	return err
}

func (g *gathering) put(key, value []byte) {
	g.entries = append(g.entries, store.Entry{Key: key, Value: value})
	g.size += len(key) + len(value)
}

// Put makes g a sink.
func (g *gathering) Put(_ uint32, key, value []byte) error {
	g.put(bytes.Clone(key), bytes.Clone(value))
	return nil
}

// Delete does nothing: no row came before.
func (g *gathering) Delete(uint32, []byte) error { return nil }
