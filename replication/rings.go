package replication

import "container/list"

// Rings remembers what was last written to, by name, for those who hear of it one after
// another: each hears every name that was rung since it last listened, once, however
// often it was.
type Rings struct {
	most  int
	last  uint64                   // number of the last ring
	floor uint64                   // rings up to it are forgotten
	order *list.List               // of ring, the latest at the back
	names map[string]*list.Element // of order
}

type ring struct {
	name   string
	number uint64
}

// NewRings returns rings that remember at most that many names.
func NewRings(most int) *Rings {
	return &Rings{most: most, order: list.New(), names: map[string]*list.Element{}}
}

// Ring says that name was written to.
func (r *Rings) Ring(name string) {
	r.last++
	if e := r.names[name]; e != nil {
		e.Value = ring{name, r.last}
		r.order.MoveToBack(e)
		return
	}
	r.names[name] = r.order.PushBack(ring{name, r.last})
	if len(r.names) > r.most {
		oldest := r.order.Remove(r.order.Front()).(ring)
		delete(r.names, oldest.name)
		r.floor = oldest.number
	}
}

// Forget drops a name: nobody needs to hear of it any more.
func (r *Rings) Forget(name string) {
	if e := r.names[name]; e != nil {
		r.order.Remove(e)
		delete(r.names, name)
	}
}

// Last returns the number of the last ring.
func (r *Rings) Last() uint64 { return r.last }

// Since returns the names rung after the ring of that number, the latest first, and the
// number to go on from. ok is false if some of them may be forgotten, or the number is
// none that was given: then everything may have been written to.
func (r *Rings) Since(number uint64) (names []string, next uint64, ok bool) {
	if number < r.floor || number > r.last {
		return nil, r.last, false
	}
	for e := r.order.Back(); e != nil && e.Value.(ring).number > number; e = e.Prev() {
		names = append(names, e.Value.(ring).name)
	}
	return names, r.last, true
}
