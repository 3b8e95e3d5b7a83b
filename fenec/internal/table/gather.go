package table

import (
	"context"
	"maps"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// gatherBytes is about how many bytes of entries are gathered at once.
const gatherBytes = 16 << 20

// Gather returns entries of x, an index of r's collection, for the rows from
// the id first on, and the id to go on from; 0 when those were all.
func (r *Reader) Gather(ctx context.Context, x *catalog.Index, first uint64) (entries []store.Entry, next uint64, err error) {
	s := r.Scan(first, ^uint64(0), false)
	g := gathering{search: entryOf{col: r.col, index: x, seq: r.view.Seq()}}
	g.search.to = &g
	for n := 1; s.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if g.size >= gatherBytes {
			return g.all(), s.ID(), nil
		}
		doc, err := row.Parse(s.Row())
		if err != nil {
			return nil, 0, err
		}
		if err := g.add(s.ID(), &doc); err != nil {
			return nil, 0, err
		}
	}
	return g.all(), 0, s.Err()
}

// gathering is entries in the making.
type gathering struct {
	search   entryOf
	searcher searcher
	entries  []store.Entry
	postings map[string]*gathered // of a search index, by what their keys begin with
	size     int                  // bytes of keys and values
}

// gathered is the postings of one term, by ascending id: for each the id, the
// length of the value in a byte, and the value.
type gathered struct {
	data []byte
	n    int
}

// add adds the entries of a row.
func (g *gathering) add(id uint64, doc *row.Row) error {
	if x := g.search.index; !x.Kind.Search() {
		e, err := appendEntry(nil, g.search.col, x, id, doc)
		g.entries = append(g.entries, store.Entry{Key: e})
		g.size += len(e)
		return err
	}
	g.search.id = id
	var none row.Row
	_, _, err := g.searcher.change(&g.search, &none, doc)
	return err
}

// Put makes g a sink. Rows come by ascending id, which is what keys end in, so that
// only terms are left to be sorted.
func (g *gathering) Put(_ uint32, key, value []byte) error {
	if g.postings == nil {
		g.postings = map[string]*gathered{}
	}
	at := len(key) - idBytes
	list := g.postings[string(key[:at])]
	if list == nil {
		list = new(gathered)
		g.postings[string(key[:at])] = list
	}
	list.data = append(append(append(list.data, key[at:]...), byte(len(value))), value...)
	list.n++
	g.size += len(key) + len(value)
	return nil
}

// Delete does nothing: no row came before.
func (g *gathering) Delete(uint32, []byte) error { return nil }

// all returns the entries; those of a search index by ascending key.
func (g *gathering) all() []store.Entry {
	if g.postings == nil {
		return g.entries
	}
	n := 0
	for _, list := range g.postings {
		n += list.n
	}
	out := make([]store.Entry, 0, n)
	memory := make([]byte, 0, g.size) // of keys
	for _, prefix := range slices.Sorted(maps.Keys(g.postings)) {
		for data := g.postings[prefix].data; len(data) > 0; {
			start := len(memory)
			memory = append(append(memory, prefix...), data[:idBytes]...)
			end := idBytes + 1 + int(data[idBytes])
			out = append(out, store.Entry{Key: memory[start:len(memory):len(memory)], Value: data[idBytes+1 : end : end]})
			data = data[end:]
		}
	}
	return out
}
