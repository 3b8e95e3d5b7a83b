package table

import (
	"context"
	"encoding/binary"
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
	size     int // bytes of keys and values

	// Of a search index: keys by what they begin with, which have numbers, and by
	// the id that they end in.
	numbers map[string]uint32
	items   []gathered // by ascending id for each number
}

// gathered is an entry of a search index.
type gathered struct {
	id     uint64
	number uint32
	length uint8
	value  [maxSearchValue]byte
}

// gatheredBytes is about how many bytes of a key and a value an item stands for.
const gatheredBytes = 20

// maxSearchValue is the most bytes of a value: two numbers of 32 bits as uvarints.
const maxSearchValue = 10

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

// Put makes g a sink.
func (g *gathering) Put(_ uint32, key, value []byte) error {
	if g.numbers == nil {
		g.numbers, g.items = map[string]uint32{}, make([]gathered, 0, gatherBytes/gatheredBytes)
	}
	at := len(key) - idBytes
	number, ok := g.numbers[string(key[:at])]
	if !ok {
		number = uint32(len(g.numbers))
		g.numbers[string(key[:at])] = number
	}
	item := gathered{id: g.search.id, number: number, length: uint8(len(value))}
	copy(item.value[:], value)
	g.items = append(g.items, item)
	g.size += len(key) + len(value)
	return nil
}

// Delete does nothing: no row came before.
func (g *gathering) Delete(uint32, []byte) error { return nil }

// all returns the entries; those of a search index by ascending key. Rows came by
// ascending id, so that only what keys begin with is sorted.
func (g *gathering) all() []store.Entry {
	if g.numbers == nil {
		return g.entries
	}
	counts := make([]int, len(g.numbers))
	for i := range g.items {
		counts[g.items[i].number]++
	}
	prefixes := slices.Sorted(maps.Keys(g.numbers))
	next := make([]int, len(prefixes)) // where the next entry of each number goes
	n := 0
	for _, prefix := range prefixes {
		number := g.numbers[prefix]
		next[number] = n
		n += counts[number]
	}
	sorted := make([]gathered, n)
	for i := range g.items {
		number := g.items[i].number
		sorted[next[number]] = g.items[i]
		next[number]++
	}
	g.items = nil
	names := g.names()
	memory := make([]byte, 0, g.size)
	out := make([]store.Entry, n)
	for i := range sorted {
		item := &sorted[i]
		start := len(memory)
		memory = append(memory, names[item.number]...)
		memory = binary.BigEndian.AppendUint64(memory, item.id)
		out[i] = store.Entry{Key: memory[start:len(memory):len(memory)], Value: item.value[:item.length]}
	}
	return out
}

// names returns what keys begin with by its number.
func (g *gathering) names() []string {
	names := make([]string, len(g.numbers))
	for name, number := range g.numbers {
		names[number] = name
	}
	return names
}
