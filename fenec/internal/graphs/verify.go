package graphs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// maxFindings bounds how many faults of one graph Verify reports.
const maxFindings = 20

// Verify checks what the base has of the graphs of the collections in cat:
// checksums, every node and every link, and that a graph has the ids of the rows
// that have a vector, but for those whose change it has not taken up. It returns
// what does not agree. No vectors are loaded: it takes about ten bytes of memory a
// node.
func Verify(v *store.View, cat *catalog.Catalog) error {
	var errs []error
	for _, c := range cat.Collections() {
		for _, x := range c.Indexes() {
			if x.Kind == catalog.HNSW && c.Built(x) {
				f := verifier{source: sourceOf(c, x), name: c.PathName(x), view: v, rows: table.NewReader(v, c)}
				f.run()
				errs = append(errs, f.found...)
			}
		}
	}
	return errors.Join(errs...)
}

// verifier checks one graph.
type verifier struct {
	source
	name  string // of the field
	view  *store.View
	rows  *table.Reader
	found []error

	header *header // nil if no graph is stored
	chunks int
	lists  int // above level 0

	// heights has the number of levels of each node that is in the graph, 0 for
	// others; ids has those of nodes that are not dead.
	heights []uint8
	ids     []uint64
}

func (f *verifier) report(format string, args ...any) {
	if len(f.found) < maxFindings {
		args = append([]any{hnsw.ErrCorrupt, f.rows.Collection().Name, f.name}, args...)
		f.found = append(f.found, fmt.Errorf("%w: collection %q: the graph of %q: "+format, args...))
	}
}

func (f *verifier) run() {
	if err := f.walk(f.piece); err != nil {
		f.report("%w", err)
	}
	if f.header != nil && len(f.found) == 0 {
		f.checkHeader()
	}
	if len(f.found) > 0 {
		return // what follows from it need not be told
	}
	if err := f.walk(f.links); err != nil {
		f.report("%w", err)
	}
	if err := f.compare(); err != nil {
		f.report("%w", err)
	}
}

// walk calls see for everything that is stored of the graph.
func (f *verifier) walk(see func(key, value []byte)) error {
	cur, err := f.view.Folded(f.index.GraphSpace())
	if err != nil {
		return err
	}
	for cur.SeekGE(nil); cur.Valid(); cur.Next() {
		see(cur.Key(), cur.Value())
	}
	return cur.Err()
}

// piece reads a part of what is stored. The header comes before the chunks.
func (f *verifier) piece(key, value []byte) {
	if string(key) == string(table.LinkedKey) {
		return // compare reads it
	}
	b, err := row.Open(value)
	switch {
	case err != nil:
		f.report("key %x: %w", key, err)
	case string(key) == string(headerKey):
		if f.header, err = parseHeader(b, f.params()); err != nil {
			f.report("%w", err)
		}
	case f.header == nil:
		f.report("key %x without a header", key)
	case string(key) == string(codesKey):
		if err := f.checkCodes(b); err != nil {
			f.report("%w", err)
		}
	case string(key) == string(chunkKey(uint32(f.chunks))):
		f.chunk(b)
		f.chunks++
	default:
		f.report("key %x among the chunks", key)
	}
}

func (f *verifier) checkCodes(b []byte) error {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != uint32(f.typ.Dim()) || f.index.HNSW.Quant == catalog.NoQuant {
		return fmt.Errorf("codes of %d bytes for another graph", len(b))
	}
	codes, err := vector.ParseQuantizer(b[4:])
	if err != nil {
		return err
	}
	if _, bits := codes.(*vector.Bits); bits != (f.index.HNSW.Quant == catalog.QuantBit) {
		return errors.New("codes of another kind")
	}
	return nil
}

// chunk reads what there is to know of the nodes of a chunk, but for their links.
func (f *verifier) chunk(b []byte) {
	var r nodes
	ok := r.begin(b)
	for n := 0; ok && n < chunkNodes; n++ {
		ok = r.next()
		f.add(&r.node)
	}
	if !ok || len(r.rest) > 0 {
		f.report("chunk %d cannot be read", f.chunks)
	}
}

func (f *verifier) add(n *node) {
	height := uint8(0)
	switch {
	case n.state == 0:
	case len(f.heights) >= int(f.header.count):
		f.report("node %d of %d", len(f.heights), f.header.count)
	case n.state&twin == 0:
		height = uint8(n.level()) + 1
		f.lists += n.level()
	}
	f.heights = append(f.heights, height)
	if n.state != 0 && n.state&dead == 0 {
		f.ids = append(f.ids, n.id)
	}
}

// checkHeader compares the header with what the chunks hold.
func (f *verifier) checkHeader() {
	h := f.header
	if f.chunks != (int(h.count)+chunkNodes-1)/chunkNodes {
		f.report("%d chunks of %d nodes", f.chunks, h.count)
	}
	if f.lists != int(h.lists) {
		f.report("%d lists above the lowest level, the header says %d", f.lists, h.lists)
	}
	if h.entry == math.MaxUint64 {
		if slices.Max(append(f.heights, 0)) > 0 {
			f.report("no entry")
		}
	} else if h.entry>>32 > levelMask || !f.reaches(uint32(h.entry), int(h.entry>>32)) {
		f.report("no node of level %d at the entry", h.entry>>32)
	}
	slices.Sort(f.ids)
	for i := 1; i < len(f.ids); i++ {
		if f.ids[i] == f.ids[i-1] {
			f.report("id %d has two nodes", f.ids[i])
		}
	}
}

// reaches reports whether node n is in the graph on a level.
func (f *verifier) reaches(n uint32, level int) bool {
	return int(n) < len(f.heights) && int(f.heights[n]) > level
}

// links checks the links of a chunk's nodes.
func (f *verifier) links(key, value []byte) {
	if key[0] != chunkTag {
		return
	}
	b, err := row.Open(value)
	if err != nil {
		f.report("key %x: %w", key, err)
		return
	}
	first := binary.BigEndian.Uint32(key[1:]) * chunkNodes
	var r nodes
	r.begin(b)
	for n := first; n < first+chunkNodes && r.next(); n++ {
		for level, list := range r.lists {
			f.checkList(&r.node, n, level, list)
		}
	}
}

// checkList checks the list of node n on a level.
func (f *verifier) checkList(x *node, n uint32, level int, list []uint32) {
	most, least := f.index.HNSW.M, 0
	switch {
	case x.state&twin != 0:
		most, least = 1, 1
		if f.index.HNSW.Metric == vector.Cosine {
			least = 0 // of a zero vector
		}
	case level == 0:
		most *= 2
	}
	if len(list) < least || len(list) > most {
		f.report("node %d has %d neighbours on level %d", n, len(list), level)
	}
	for _, m := range list {
		if m == n || !f.reaches(m, level) {
			f.report("node %d has the neighbour %d on level %d, where that is not", n, m, level)
		}
	}
}

// compare compares the ids of the graph with the rows. Those whose change is
// pending may be in it or not.
func (f *verifier) compare() error {
	waiting, err := f.waiting()
	if err != nil {
		return err
	}
	ids := f.ids
	differs := func(id uint64, what string) {
		if !waiting[id] {
			f.report("id %d %s", id, what)
		}
	}
	var r row.Row
	s := f.rows.Scan(0, math.MaxUint64, false)
	for s.Next() {
		if err := r.Reset(s.Row()); err != nil {
			return err
		}
		b, err := r.Raw(f.index.Field)
		if err != nil {
			return err
		}
		for ; len(ids) > 0 && ids[0] < s.ID(); ids = ids[1:] {
			differs(ids[0], "has no row")
		}
		has := len(ids) > 0 && ids[0] == s.ID()
		switch {
		case has && b == nil:
			differs(s.ID(), "has no vector")
		case !has && b != nil:
			differs(s.ID(), "is missing")
		}
		if has {
			ids = ids[1:]
		}
	}
	for _, id := range ids {
		differs(id, "has no row")
	}
	return s.Err()
}

// waiting returns the ids of rows whose change the stored graph need not show.
func (f *verifier) waiting() (map[uint64]bool, error) {
	linked, err := f.rows.Linked(f.index)
	if err != nil {
		return nil, err
	}
	all, err := f.rows.PendingAfter(f.index, table.Pending{})
	if err != nil {
		return nil, err
	}
	fresh, err := f.rows.Fresh(f.index)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]bool, len(all)+len(fresh))
	for _, id := range fresh {
		out[id] = true
	}
	for _, p := range all {
		if p.Compare(linked) > 0 {
			out[p.ID] = true
		}
	}
	return out, nil
}
