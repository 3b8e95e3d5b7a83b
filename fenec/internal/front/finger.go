package front

// finger remembers a place, as where a space was last written: for each level a
// node before it. A key near it is found without a search from the head.
//
// Invariant: last[level+1] is last[level] or before it.
type finger struct {
	last [maxHeight]ref
}

// point moves the finger to node n at the given level and all below it.
func (f *finger) point(level int, n ref) {
	for i := range level + 1 {
		f.last[i] = n
	}
}

// nearLevel is the level up to which a climb costs less than a search from the
// top: one node in 256 is on it.
const nearLevel = 4

// reader is a finger of one who only reads. The zero reader points nowhere yet.
type reader struct {
	finger
	set  bool
	near bool // the last search ended near the one before, as the next may do
}

// seek is list.seekNear, unless the searches are far from one another.
func (r *reader) seek(l *list, t *target) (n ref, exact bool) {
	if !r.set {
		r.set = true
		r.point(maxHeight-1, head)
	}
	if r.near {
		level, n, exact := l.climb(&r.finger, t)
		if r.near = level <= nearLevel; exact {
			return n, true
		}
		return l.descend(&r.finger, level, n, t)
	}
	before, top := r.last[nearLevel], int(l.height.Load())-1
	r.last[top] = head
	n, exact = l.descend(&r.finger, top, 0, t)
	r.near = r.last[nearLevel] == before
	return n, exact
}

// Finger finds keys of a front near the one it last looked for without a search
// from the beginning. The zero Finger points nowhere yet. It is for one
// goroutine, while others may use fingers of their own and one may insert.
type Finger struct {
	list *list
	at   reader
}

// Get is in's Get.
func (f *Finger) Get(in *Front, space uint32, key []byte, maxSeq uint64) (value []byte, tombstone, ok bool) {
	if f.list != &in.list {
		*f = Finger{list: &in.list}
	}
	t := newTarget(space, key)
	n, exact := f.at.seek(f.list, &t)
	if !exact {
		return nil, false, false
	}
	return f.list.valueAt(n, maxSeq)
}

const fingerCount = 8

// fingers holds one finger for each of the spaces written lately.
type fingers struct {
	spaces [fingerCount]uint32
	each   [fingerCount]finger
	recent int // the one used last
	turn   int // the one to be given to another space next
}

// reset points the finger of space 0 at the head. The others are taken to be of
// that space as well, so that they are not used before they are given away.
func (fs *fingers) reset() {
	fs.spaces = [fingerCount]uint32{}
	fs.each[0].point(maxHeight-1, head)
	fs.recent, fs.turn = 0, 0
}

// of returns the finger of a space, which is pointed at the head if it has been
// given away since that space was last written.
func (fs *fingers) of(space uint32) *finger {
	if fs.spaces[fs.recent] == space {
		return &fs.each[fs.recent]
	}
	for i, s := range fs.spaces {
		if s == space {
			fs.recent = i
			return &fs.each[i]
		}
	}
	fs.turn = (fs.turn + 1) % fingerCount
	fs.recent = fs.turn
	fs.spaces[fs.turn] = space
	f := &fs.each[fs.turn]
	f.point(maxHeight-1, head)
	return f
}
