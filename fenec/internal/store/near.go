package store

import (
	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/front"
)

// nearSpaces is for how many spaces a view remembers where it last got a key.
const nearSpaces = 4

// near remembers where a view last got a key of a space, in the base and in
// each front. Keys that are got one after the other tend to be neighbours.
type near struct {
	space        uint32
	base         base.Finger
	live, frozen front.Finger
}

// nearIn returns what v remembers of a space, which is nothing if others have
// been read since.
func (v *View) nearIn(space uint32) *near {
	for i := range v.near {
		if v.near[i].space == space {
			return &v.near[i]
		}
	}
	if len(v.near) < nearSpaces {
		v.near = append(v.near, near{space: space})
		return &v.near[len(v.near)-1]
	}
	v.turn = (v.turn + 1) % nearSpaces
	v.near[v.turn] = near{space: space}
	return &v.near[v.turn]
}

// forgetNear leaves no trace of where v has been, which holds on to fronts.
func (v *View) forgetNear() {
	clear(v.near)
	v.near, v.got = v.near[:0], false
}

// getNear is Get for what the overlay does not hold.
func (v *View) getNear(space uint32, key []byte) ([]byte, error) {
	n := v.nearIn(space)
	if val, gone, ok := n.live.Get(v.live, space, key, v.seq); ok {
		return present(val, gone), nil
	}
	if v.frozen != nil {
		if val, gone, ok := n.frozen.Get(v.frozen, space, key, v.seq); ok {
			return present(val, gone), nil
		}
	}
	tx, err := v.base()
	if err != nil {
		return nil, err
	}
	return n.base.Get(tx, space, key)
}
