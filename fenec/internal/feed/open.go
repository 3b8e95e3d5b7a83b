package feed

import (
	"encoding/binary"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
)

// open is the operations of the block that is being made.
type open struct {
	limit int64 // bytes beyond which the block cannot be kept
	runs  []run
	ops   []byte // each operation after its length
	count uint64
	over  bool // it is more than the limit: nothing is in ops
}

// run is operations on one collection, as it is defined once they are done.
type run struct {
	col   *catalog.Collection
	count uint64
	end   int // in ops
}

// maxKept bounds the memory kept for the next block, in bytes.
const maxKept = 64 << 10

func (o *open) reset() {
	if cap(o.ops) > maxKept {
		o.ops, o.runs = nil, nil
	}
	clear(o.runs)
	o.runs, o.ops, o.count, o.over = o.runs[:0], o.ops[:0], 0, false
}

func (o *open) add(col *catalog.Collection, op []byte) {
	o.count++
	if o.over {
		return
	}
	if int64(len(o.ops)+len(op)) > o.limit {
		o.runs, o.ops, o.over = nil, nil, true
		return
	}
	o.ops = binary.AppendUvarint(o.ops, uint64(len(op)))
	o.ops = append(o.ops, op...)
	if n := len(o.runs); n == 0 || o.runs[n-1].col != col {
		o.runs = append(o.runs, run{col: col})
	}
	last := &o.runs[len(o.runs)-1]
	last.count++
	last.end = len(o.ops)
}

// each calls fn with the runs as groups, whose first numbers are counted from 0.
func (o *open) each(fn func(group)) {
	start, first := 0, uint64(0)
	for _, r := range o.runs {
		fn(group{first: first, col: r.col, count: r.count, ops: o.ops[start:r.end]})
		start, first = r.end, first+r.count
	}
}

// group is operations of one block on one collection that follow each other.
type group struct {
	block, first uint64 // numbers of the block's first operation and of the group's
	at           int64
	col          *catalog.Collection
	count        uint64
	ops          []byte // each operation after its length
}

// next returns the length of the next operation, with what says it.
func (g *group) next() int {
	n, used := binary.Uvarint(g.ops)
	return used + int(n)
}

// cut takes off g what fits into room bytes, at least one operation.
func (g *group) cut(room int) group {
	part := *g
	if len(g.ops) <= room {
		g.count = 0
		return part
	}
	end := g.next()
	for part.count = 1; part.count < g.count; part.count++ {
		n, used := binary.Uvarint(g.ops[end:])
		if end+used+int(n) > room {
			break
		}
		end += used + int(n)
	}
	part.ops, g.ops = g.ops[:end:end], g.ops[end:]
	g.first += part.count
	g.count -= part.count
	return part
}
