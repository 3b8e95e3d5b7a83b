package graphs

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Graph is the graph of one index. Its methods are safe for concurrent use.
type Graph struct {
	*hnsw.Graph
	source
	linked   atomic.Pointer[table.Pending]
	foldSoon func() // asks for a fold

	linking sync.Mutex // held by the one who links

	// Of folds, of which there is one at a time.
	stored, folding table.Pending // the last change taken up, in the base and in the fold at hand
}

// source is where the vectors of an index are. It stays while the definition of
// the collection changes.
type source struct {
	index    *catalog.Index
	rowSpace uint32
	typ      value.Type
}

func sourceOf(c *catalog.Collection, x *catalog.Index) source {
	return source{index: x, rowSpace: c.RowSpace, typ: c.Fields[x.Field].Type}
}

// params returns what the index's graph is made with.
func (s *source) params() hnsw.Params {
	o := s.index.HNSW
	p := hnsw.Params{Dim: s.typ.Dim(), Metric: o.Metric, M: o.M, EFConstruction: o.EFConstruction, Seed: uint64(s.index.Space)}
	switch {
	case o.Quant == catalog.QuantInt8:
		p.Storage = hnsw.Int8
	case o.Quant == catalog.QuantBit:
		p.Storage = hnsw.Bits
	case s.typ.F16():
		p.Storage = hnsw.Float16
	}
	return p
}

// Linked returns the last change that the graph has taken up.
func (g *Graph) Linked() table.Pending { return *g.linked.Load() }

// manyFresh is how many rows of the fronts a search may measure without asking for a
// fold.
const manyFresh = 4096

// Missed tells that a search had to measure so many rows itself because they are not
// folded yet. If they are many, they are to be folded, and then linked, without waiting
// for the fronts to fill or for writers to pause.
func (g *Graph) Missed(fresh int) {
	if fresh > manyFresh {
		g.foldSoon()
	}
}

// The keys of a graph's space, but for table.LinkedKey.
var (
	headerKey = []byte{1}
	codesKey  = []byte{2}
)

const chunkTag = 3

func chunkKey(number uint32) []byte { return binary.BigEndian.AppendUint32([]byte{chunkTag}, number) }

// load reads the graph that is stored in the base, which is empty if none is.
func load(tx *base.Tx, from source) (*Graph, error) {
	g := &Graph{source: from}
	linked, err := table.LinkedIn(tx, from.index.Space)
	if err != nil {
		return nil, err
	}
	g.linked.Store(&linked)
	g.stored, g.folding = linked, linked // until a fold stores more, whichever is going on now
	stored, err := readStored(tx, from.index.GraphSpace())
	if err != nil {
		return nil, err
	}
	if stored.Header == nil {
		g.Graph, err = hnsw.New(from.params())
		return g, err
	}
	stored.Guard = func(read func() error) (err error) {
		defer base.Recover(tx.Path(), base.Guard(), &err)
		return read()
	}
	stored.Lost = from.lost(tx, linked)
	g.Graph, err = hnsw.Load(from.params(), stored, func(put func(uint64, []float32) bool) error {
		return from.fill(tx, put)
	})
	return g, err
}

func readStored(tx *base.Tx, space uint32) (stored hnsw.Stored, err error) {
	if stored.Header, err = unsealed(tx, space, headerKey); stored.Header == nil || err != nil {
		return stored, err
	}
	if stored.Codes, err = unsealed(tx, space, codesKey); err != nil {
		return stored, err
	}
	cur, err := tx.Cursor(space)
	if err != nil {
		return stored, err
	}
	for err = cur.SeekGE(chunkKey(0)); err == nil && cur.Key != nil; err = cur.Next() {
		if string(cur.Key) != string(chunkKey(uint32(len(stored.Chunks)))) {
			return stored, fmt.Errorf("%w: key %x among the chunks", hnsw.ErrCorrupt, cur.Key)
		}
		chunk, err := row.Open(cur.Value)
		if err != nil {
			return stored, fmt.Errorf("chunk %d of a graph: %w", len(stored.Chunks), err)
		}
		stored.Chunks = append(stored.Chunks, chunk)
	}
	return stored, err
}

// unsealed returns what was sealed under a key, nil if there is nothing.
func unsealed(tx *base.Tx, space uint32, key []byte) ([]byte, error) {
	b, err := tx.Get(space, key)
	if b == nil || err != nil {
		return nil, err
	}
	return row.Open(b)
}

// fill hands the vectors of all rows to put, from as many goroutines as there are
// cores.
func (s *source) fill(tx *base.Tx, put func(id uint64, v []float32) bool) error {
	cur, err := tx.Cursor(s.rowSpace)
	if err != nil {
		return err
	}
	if err := cur.SeekGE(nil); err != nil || cur.Key == nil {
		return err
	}
	first, err := idOf(cur.Key)
	if err != nil {
		return err
	}
	if err := cur.SeekLT(nil); err != nil {
		return err
	}
	last, err := idOf(cur.Key)
	if err != nil {
		return err
	}
	parts := uint64(runtime.GOMAXPROCS(0))
	share := (last-first)/parts + 1
	errs := make(chan error, parts)
	for i := range parts {
		go func() { errs <- s.fillPart(tx, first+i*share, first+(i+1)*share, put) }()
	}
	for range parts {
		if e := <-errs; e != nil {
			err = e
		}
	}
	return err
}

// fillPart is fill for rows with ids in [first, end).
func (s *source) fillPart(tx *base.Tx, first, end uint64, put func(id uint64, v []float32) bool) (err error) {
	defer base.Recover(tx.Path(), base.Guard(), &err)
	cur, err := tx.Cursor(s.rowSpace)
	if err != nil {
		return err
	}
	var r row.Row
	var v []float32
	for err = cur.SeekGE(binary.BigEndian.AppendUint64(nil, first)); err == nil && cur.Key != nil; err = cur.Next() {
		id, err := idOf(cur.Key)
		if err != nil {
			return err
		}
		if id >= end {
			break
		}
		var ok bool
		if v, ok, err = s.vector(v, &r, cur.Value); err != nil {
			return fmt.Errorf("id %d: %w", id, err)
		}
		if ok {
			put(id, v)
		}
	}
	return err
}

// lost returns what to say of an id that a graph has and no vector is stored of. That
// is damage, unless a change is pending that the graph has not taken up.
func (s *source) lost(tx *base.Tx, linked table.Pending) func(id uint64) error {
	var pending map[uint64]bool
	return func(id uint64) error {
		if pending == nil {
			list, err := table.WaitingIn(tx, s.index, linked)
			if err != nil {
				return err
			}
			pending = make(map[uint64]bool, len(list))
			for _, p := range list {
				pending[p.ID] = true
			}
		}
		if !pending[id] {
			return fmt.Errorf("%w: a graph has id %d, of which there is no vector", table.ErrCorrupt, id)
		}
		return nil
	}
}

// idOf returns the id of a row from its key.
func idOf(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("%w: a row under the key %x", table.ErrCorrupt, key)
	}
	return binary.BigEndian.Uint64(key), nil
}

// vector returns the vector of a stored row in dst; ok is false if it is null.
func (s *source) vector(dst []float32, r *row.Row, sealed []byte) (v []float32, ok bool, err error) {
	b, err := row.Open(sealed)
	if err != nil {
		return dst, false, err
	}
	if err := r.Reset(b); err != nil {
		return dst, false, err
	}
	return r.AppendVector(dst[:0], s.index.Field, s.typ)
}

// batch is how many changes are taken up at once.
const batch = 1024

// next returns the next changes to be taken up, and the vectors that their rows
// have; nil is none.
func (g *Graph) next(open func() (*base.Tx, error)) (list []table.Pending, vectors map[uint64][]float32, err error) {
	tx, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer tx.Release()
	defer base.Recover(tx.Path(), base.Guard(), &err)
	if list, err = table.PendingIn(tx, g.index, g.Linked(), batch); err != nil {
		return nil, nil, err
	}
	vectors = make(map[uint64][]float32, len(list))
	var r row.Row
	for _, p := range list {
		if _, ok := vectors[p.ID]; ok {
			continue
		}
		sealed, err := tx.Get(g.rowSpace, binary.BigEndian.AppendUint64(nil, p.ID))
		if err != nil {
			return nil, nil, err
		}
		vectors[p.ID] = nil
		if sealed == nil {
			continue
		}
		v, ok, err := g.vector(nil, &r, sealed)
		if err != nil {
			return nil, nil, fmt.Errorf("id %d: %w", p.ID, err)
		}
		if ok {
			vectors[p.ID] = v
		}
	}
	return list, vectors, nil
}

// change is a vector that an id has now; nil for none.
type change struct {
	id uint64
	v  []float32
}

// take brings the graph to the given vectors, from as many goroutines as there are
// cores, of which as many work at once as have turns.
func (g *Graph) take(ctx context.Context, vectors map[uint64][]float32, t turns) error {
	work := make(chan change)
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range cap(errs) {
		go func() {
			var first error
			for c := range work {
				if first == nil {
					first = g.change(ctx, c, t)
				}
			}
			errs <- first
		}()
	}
	for id, v := range vectors {
		work <- change{id, v}
	}
	close(work)
	var err error
	for range cap(errs) {
		if e := <-errs; e != nil && err == nil {
			err = e
		}
	}
	return err
}

// change brings the graph to one vector, in a turn.
func (g *Graph) change(ctx context.Context, c change, t turns) error {
	if err := t.wait(ctx); err != nil {
		return err
	}
	defer t.done()
	g.Delete(c.id)
	if c.v == nil {
		return nil
	}
	return g.Insert(c.id, c.v)
}

// fold returns what a fold is to store of the graph; nil if that is nothing.
func (g *Graph) fold() (out []base.Change) {
	linked := g.Linked()
	if linked == g.stored && g.Dirty() == 0 {
		return nil
	}
	// What is taken up from here on may be in the chunks or not. It stays pending.
	g.folding = linked
	c := g.Changes()
	space := g.index.GraphSpace()
	put := func(key, value []byte) { out = append(out, base.Change{Space: space, Key: key, Value: value}) }
	put(table.LinkedKey, linked.Append(nil))
	put(headerKey, row.Seal(c.Header))
	if c.Codes != nil {
		put(codesKey, row.Seal(c.Codes))
	}
	for _, chunk := range c.Chunks {
		put(chunkKey(chunk.Number), row.Seal(chunk.Data))
	}
	return out
}

// waits reports whether fold would return something.
func (g *Graph) waits() bool { return g.Linked() != g.stored || g.Dirty() > 0 }
