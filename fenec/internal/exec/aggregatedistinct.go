package exec

import (
	"encoding/binary"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// What all aggregates of one run may hold together.
const (
	maxDistinct    = 1_000_000
	maxSketchBytes = 64 << 20
)

// held is what the aggregates of one run hold.
type held struct {
	distinct int // values of count(distinct …)
	sketches int // bytes
}

// distinct is count(distinct …).
type distinct struct {
	of   *source
	held *held
	n    []int64
	seen *forms // of group and value
	buf  []byte
}

func newDistinct(of *source, held *held) *distinct {
	return &distinct{of: of, held: held, seen: newForms()}
}

func (d *distinct) grow() { d.n = append(d.n, 0) }

func (d *distinct) add(g int, f *expr.Frame) error {
	var null bool
	var err error
	d.buf = binary.AppendUvarint(d.buf[:0], uint64(g))
	if d.buf, null, err = d.of.appendForm(d.buf, f); null || err != nil {
		return err
	}
	if _, isNew := d.seen.number(d.buf); !isNew {
		return nil
	}
	if d.held.distinct++; d.held.distinct > maxDistinct {
		return fault.New(fault.Query, "count(distinct …) meets more than %d values", maxDistinct)
	}
	d.n[g]++
	return nil
}

func (d *distinct) value(g int) (value.Value, error) { return value.Int(d.n[g]), nil }
