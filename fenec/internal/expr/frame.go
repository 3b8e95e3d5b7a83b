package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Frame is the state of one run of a statement: what its expressions are
// evaluated with. It is for one goroutine.
type Frame struct {
	Params []value.Value // $1 is the first
	Now    int64         // the statement's clock, milliseconds since 1970
	Outer  []value.Value // what a run is given beside its parameters, see Slot
	Slots  []value.Value // what is read beside the row, see Slot
	Inners []*Values     // of the gets within expressions
	Run    any           // what a search for rows leaves for the next

	id   uint64
	row  row.Row
	memo []memo // what has been computed once for this run

	left, right []float32 // vectors being measured
}

// memo is a value that a run computes once, or the error it ended with.
type memo struct {
	known bool
	v     value.Value
	err   error
	set   *Values // what an in looks through, nil for the rest
}

// Reset prepares a new or released f for a run of a statement compiled by c, with
// no row.
func (f *Frame) Reset(c *Compiler, params []value.Value, now int64) {
	f.Params, f.Now = params, now
	if cap(f.memo) < c.memos {
		f.memo = make([]memo, c.memos)
	}
	f.memo = f.memo[:c.memos]
	if cap(f.Inners) < len(c.inners) {
		f.Inners = make([]*Values, len(c.inners))
	}
	f.Inners = f.Inners[:len(c.inners)]
}

// Restart begins another run with the same parameters and gets, after Outer has
// changed.
func (f *Frame) Restart() { clear(f.memo) }

// Release lets go of everything that the run was given. f may be reset again.
func (f *Frame) Release() {
	f.Params, f.Outer, f.Slots = nil, nil, nil
	clear(f.Inners)
	f.id, f.row = 0, row.Row{}
	clear(f.memo)
}

// Stand makes the row in b, with that id, the one that fields are read from. b
// must not change until the next call.
func (f *Frame) Stand(id uint64, b []byte) error {
	f.id = id
	return f.row.Reset(b)
}

// ID returns the id of the row that f stands at.
func (f *Frame) ID() uint64 { return f.id }

// Row returns the row that f stands at, which is good until the next Stand.
func (f *Frame) Row() *row.Row { return &f.row }
