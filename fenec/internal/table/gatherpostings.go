package table

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// batchBytes is about how many bytes of rows one goroutine takes at a time.
const batchBytes = 256 << 10

// Postings are those of some rows in an index that is being built.
type Postings struct {
	space uint32
	kind  posting.Kind
	terms []termChange
}

// Merge returns what becomes of the base when it takes them up.
func (p *Postings) Merge(tx *base.Tx) ([]base.Change, error) {
	return mergeChanges(tx, p.space, p.kind, p.terms)
}

// GatherPostings returns the postings of x, an index of r's collection of kind Text
// or Inverted, for the rows from the id first on, and the id to go on from; 0 when
// those were all. There are not many more than most. Each takes up to 80 bytes of
// memory meanwhile. Rows become postings on all cores.
func (r *Reader) GatherPostings(ctx context.Context, x *catalog.Index, first uint64, most int64) (p *Postings, next uint64, err error) {
	var count atomic.Int64
	gatherers := make([]gatherer, runtime.GOMAXPROCS(0))
	batches := make(chan rowBatch, len(gatherers))
	errs := make(chan error, len(gatherers))
	for i := range gatherers {
		g := &gatherers[i]
		g.search = entryOf{col: r.col, index: x, to: g}
		g.kind, g.count, g.numbers = kindOf(x), &count, map[string]uint32{}
		go func() { errs <- g.run(batches) }()
	}
	next, err = r.batchRows(ctx, first, func() bool { return count.Load() >= most }, batches)
	close(batches)
	for range gatherers {
		if e := <-errs; e != nil && err == nil {
			err = e
		}
	}
	return &Postings{x.Space, kindOf(x), joined(gatherers)}, next, err
}

// rowBatch is copies of rows.
type rowBatch struct {
	ids  []uint64
	ends []int // in data, of each row
	data []byte
}

func (b *rowBatch) add(id uint64, data []byte) {
	b.data = append(b.data, data...)
	b.ids, b.ends = append(b.ids, id), append(b.ends, len(b.data))
}

// batchRows sends rows from the id first on, until it is told that they are enough,
// and returns the id to go on from.
func (r *Reader) batchRows(ctx context.Context, first uint64, enough func() bool, to chan<- rowBatch) (next uint64, err error) {
	var b rowBatch
	s := r.Scan(first, ^uint64(0), false)
	for s.Next() {
		if len(b.data) >= batchBytes || len(b.ids) == checkEvery {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			to <- b
			b = rowBatch{}
			if enough() {
				return s.ID(), nil
			}
		}
		b.add(s.ID(), s.Row())
	}
	to <- b
	return 0, s.Err()
}

// gatherer makes postings of rows, of ascending ids, in one goroutine. They are put
// by their terms at the end, as there are many terms: a list of each in the making
// would lie all over the memory.
type gatherer struct {
	search   entryOf
	searcher searcher
	kind     posting.Kind
	count    *atomic.Int64 // of postings, by all gatherers
	added    int64         // of the batch at hand

	numbers map[string]uint32 // places in counts by prefix
	counts  []int             // postings of each term
	items   [][]gathered      // in pieces, which are never moved
	terms   []termChange      // in the end
}

// gathered is a posting and the place of its term.
type gathered struct {
	posting.Posting
	term uint32
}

// pieceItems is how many postings lie in one piece.
const pieceItems = 1 << 13

// run takes batches until there are no more, also after an error.
func (g *gatherer) run(batches <-chan rowBatch) (err error) {
	for b := range batches {
		if err == nil {
			err = g.add(&b)
		}
	}
	if err == nil {
		g.sort()
	}
	return err
}

func (g *gatherer) add(b *rowBatch) error {
	g.added = 0
	var none, doc row.Row
	start := 0
	for i, id := range b.ids {
		if err := doc.Reset(b.data[start:b.ends[i]]); err != nil {
			return err
		}
		start, g.search.id = b.ends[i], id
		if _, _, err := g.searcher.change(&g.search, &none, &doc); err != nil {
			return err
		}
	}
	g.count.Add(g.added)
	return nil
}

// Put makes g a sink.
func (g *gatherer) Put(_ uint32, key, value []byte) error {
	prefix, p, err := posting.Single(g.kind, key, value)
	if err != nil {
		return err
	}
	n, ok := g.numbers[string(prefix)]
	if !ok {
		n = uint32(len(g.counts))
		g.numbers[string(prefix)] = n
		g.counts = append(g.counts, 0)
	}
	g.counts[n]++
	last := len(g.items) - 1
	if last < 0 || len(g.items[last]) == pieceItems {
		g.items = append(g.items, make([]gathered, 0, pieceItems))
		last++
	}
	g.items[last] = append(g.items[last], gathered{p, n})
	g.added++
	return nil
}

// Delete does nothing: no row came before.
func (g *gatherer) Delete(uint32, []byte) error { return nil }

// sort makes the terms of what was gathered.
func (g *gatherer) sort() {
	total := 0
	for _, n := range g.counts {
		total += n
	}
	all := make([]posting.Posting, total)
	g.terms = make([]termChange, len(g.counts))
	for prefix, n := range g.numbers {
		g.terms[n].prefix = []byte(prefix)
	}
	for n, count := range g.counts {
		g.terms[n].postings, all = all[:0:count], all[count:]
	}
	for i, piece := range g.items {
		for j := range piece {
			t := &g.terms[piece[j].term]
			t.postings = append(t.postings, piece[j].Posting)
		}
		g.items[i] = nil
	}
	g.numbers, g.counts, g.items = nil, nil, nil
}

// joined returns what gatherers have, by ascending prefix.
func joined(gatherers []gatherer) []termChange {
	all := map[string]termChange{}
	for i := range gatherers {
		for _, t := range gatherers[i].terms {
			t.postings = mergedByID(all[string(t.prefix)].postings, t.postings)
			all[string(t.prefix)] = t
		}
	}
	out := make([]termChange, 0, len(all))
	for _, prefix := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[prefix])
	}
	return out
}

// mergedByID returns what two lists have, each by ascending id.
func mergedByID(a, b []posting.Posting) []posting.Posting {
	if len(a) == 0 {
		return b
	}
	out := make([]posting.Posting, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].ID < b[0].ID {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
