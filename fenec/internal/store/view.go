package store

import (
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/front"
)

// View reads the merged state of base and fronts at one sequence. It is for
// one goroutine. It opens its base transaction when a read first needs it and
// keeps it until Release; long iterations let go of it now and then by
// themselves.
//
// What Get, Key and Value return aliases memory of the store: it is valid
// until an iterator of the same View moves, the View is released, or, in a
// Block, the next write.
type View struct {
	s       *Store
	snap    *Snapshot // nil in a Block, which no checkpoint can overtake
	seq     uint64
	overlay *front.Overlay // the unfinished block's own writes, or nil
	live    *front.Front
	frozen  *front.Front // or nil
	tx      *base.Tx     // nil until a read needs the base
	iters   []*Iter      // those that stand somewhere in tx
	spare   []*Iter      // closed, to be used again
	near    []near       // where Get has been, since got
	turn    int          // the one of near that was last given to another space
	got     bool         // it is worth remembering where: this is not the only Get
}

// read makes v a reader of sn.
func (v *View) read(sn *Snapshot) {
	v.s, v.snap, v.seq, v.live = sn.s, sn, sn.seq, sn.st.live.front
	if sn.st.frozen != nil {
		v.frozen = sn.st.frozen.front
	}
}

// Seq returns the sequence the view reads at.
func (v *View) Seq() uint64 { return v.seq }

// Get returns the value of key in space, or nil if it is not there.
func (v *View) Get(space uint32, key []byte) ([]byte, error) {
	if v.overlay != nil {
		if val, gone, ok := v.overlay.Get(space, key); ok {
			return present(val, gone), nil
		}
	}
	if v.got {
		return v.getNear(space, key)
	}
	v.got = true
	if val, gone, ok := v.live.Get(space, key, v.seq); ok {
		return present(val, gone), nil
	}
	if v.frozen != nil {
		if val, gone, ok := v.frozen.Get(space, key, v.seq); ok {
			return present(val, gone), nil
		}
	}
	tx, err := v.base()
	if err != nil {
		return nil, err
	}
	return tx.Get(space, key)
}

// present tells an empty value from a missing one.
func present(val []byte, gone bool) []byte {
	switch {
	case gone:
		return nil
	case val == nil:
		return []byte{}
	}
	return val
}

// base returns the view's base transaction, opening it if need be.
func (v *View) base() (*base.Tx, error) {
	if v.tx != nil {
		return v.tx, nil
	}
	if v.snap != nil {
		if cause := v.snap.ended.Load(); cause != nil {
			return nil, *cause
		}
	}
	tx, err := v.s.base.Acquire()
	if err != nil {
		return nil, v.s.closedOr(err)
	}
	if tx.Folded() > v.seq {
		tx.Release()
		if v.snap != nil {
			if cause := v.snap.ended.Load(); cause != nil {
				return nil, *cause
			}
		}
		return nil, fmt.Errorf("store: internal: base at %d read at %d", tx.Folded(), v.seq)
	}
	v.tx = tx
	return tx, nil
}

// Release lets go of the base transaction. The view may be read again; it
// then opens another, and still sees the same sequence. Iterators are
// finished.
func (v *View) Release() {
	v.forgetIters()
	v.forgetNear()
	v.letGo()
}

// Pause lets go of the base transaction as Release does, but iterators go on from
// where they stand. What they and Get returned is not valid any more.
func (v *View) Pause() { v.renew() }

// forgetIters leaves no trace of iterators, which hold on to fronts.
func (v *View) forgetIters() {
	clear(v.iters)
	v.iters = v.iters[:0]
}

func (v *View) letGo() {
	if v.tx != nil {
		v.tx.Release()
		v.tx = nil
	}
}

// renew exchanges the base transaction for a fresh one, so that a long read
// keeps neither pages nor the file's map from changing. Every iterator
// remembers where it stood first.
func (v *View) renew() {
	for _, it := range v.iters {
		it.remember()
	}
	v.forgetIters()
	v.letGo()
}
