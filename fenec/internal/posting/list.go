package posting

// List reads the postings of one term by ascending id: those of its chunks,
// overlaid with changes that are not folded yet. It only moves forward. At an
// error it ends, and Err says why.
type List struct {
	base  reader
	front overlay
	id    uint64 // of the posting, if deep; else no posting from here on is below it
	df    uint64

	// deep is whether the list stands at a posting. Bounds are looked at without.
	deep     bool
	inFront  bool // the posting is the front's
	hasFront bool
}

// NewList returns a list of the postings that c finds under prefix. front is what
// changed since, by ascending id without repetition: it hides stored postings of
// the same ids, and those of it that are gone are no postings. The list keeps c,
// prefix and front, and stands at the first posting.
func NewList(kind Kind, c Cursor, prefix []byte, front []Posting) (*List, error) {
	l := &List{front: newOverlay(kind, front), deep: true, hasFront: len(front) > 0}
	if err := l.base.open(kind, c, prefix); err != nil {
		return nil, err
	}
	l.df = l.base.head.df
	if l.hasFront {
		if err := l.count(); err != nil {
			return nil, err
		}
	}
	if l.settle(); l.base.err != nil {
		return nil, l.base.err
	}
	return l, nil
}

// count corrects the number of postings by what the front hides and adds.
func (l *List) count() error {
	for i := range l.front.all {
		p := &l.front.all[i]
		l.base.seekGE(p.ID)
		if l.base.id == p.ID {
			l.df--
		}
		if !p.Gone {
			l.df++
		}
	}
	if l.base.err != nil {
		return l.base.err
	}
	return l.base.rewind()
}

// DF returns how many postings the list has in all.
func (l *List) DF() uint64 { return l.df }

// ID returns the id of the document the list stands at, or End.
func (l *List) ID() uint64 { return l.id }

// Err returns what ended the list early, or nil.
func (l *List) Err() error { return l.base.err }

// Posting returns the posting the list stands at, which is not End.
func (l *List) Posting() Posting {
	if l.inFront {
		return l.front.all[l.front.at]
	}
	return l.base.posting()
}

// Next moves to the following posting. The list is not at End.
func (l *List) Next() {
	if !l.hasFront {
		l.base.next()
		l.id = l.base.id
		return
	}
	if l.front.id() == l.id {
		l.front.at++
	}
	if l.base.id == l.id {
		l.base.next()
	}
	l.settle()
}

// SeekGE moves to the first posting at or after id, unless the list is there or
// beyond.
func (l *List) SeekGE(id uint64) {
	if l.deep && id <= l.id {
		return
	}
	l.deep = true
	l.base.seekGE(id)
	if !l.hasFront {
		l.id = l.base.id
		return
	}
	l.front.seekGE(id)
	l.settle()
}

// settle stands at the nearer of base and front, passing over what is gone. Both
// are at postings.
func (l *List) settle() {
	for {
		f := l.front.id()
		if l.base.id < f || f == End {
			l.id, l.inFront = l.base.id, false
			return
		}
		if !l.front.all[l.front.at].Gone {
			l.id, l.inFront = f, true
			return
		}
		if l.base.id == f {
			l.base.next()
		}
		l.front.at++
	}
}

// shallow moves on to where bounds of postings from id on can be had. Until the
// next SeekGE the list stands at no posting.
func (l *List) shallow(id uint64) {
	l.base.shallow(id)
	l.front.seekGE(id)
	if l.deep = !l.hasFront && l.base.deep; l.deep {
		l.id = l.base.id
	} else {
		l.id = min(max(l.base.id, id), max(l.front.id(), id))
	}
}

// limit returns what the contributions of no posting go beyond from here on up
// to last, which is End if there are no more.
func (l *List) limit(w *weigher) (most float64, last uint64) {
	if l.base.last != End {
		var b bound
		l.base.blockBound(&b)
		most, _ = w.limit(&b)
	}
	last = l.base.last
	if l.hasFront {
		frontMost, frontLast := l.front.limit(w)
		most, last = max(most, frontMost), min(last, frontLast)
	}
	return most, last
}

// bound returns the bound of all postings.
func (l *List) bound() bound {
	var b bound
	if l.base.head.df > 0 {
		b = l.base.head.bound
	}
	for i := range l.front.blocks {
		b.join(l.base.kind, &l.front.blocks[i])
	}
	return b
}

// weigh returns what the posting the list stands at contributes.
func (l *List) weigh(w *weigher) float64 {
	if l.inFront {
		return w.weigh(&l.front.all[l.front.at])
	}
	return w.stored(&l.base.block, l.base.i)
}

// above moves to the first posting from here on, up to last, that contributes
// more than need, and reports whether there is one. Otherwise the list ends up
// past last. last is within the block of bounds.
func (l *List) above(w *weigher, need float64, last uint64) bool {
	for l.id <= last {
		if !l.inFront {
			if l.aboveStored(w, need, min(last, l.front.id()-1)) {
				return true
			}
			continue
		}
		if l.weigh(w) > need {
			return true
		}
		l.Next()
	}
	return false
}

// aboveStored is above where all postings up to last are the base's. Otherwise
// the list ends up past last, or past the block of the base.
func (l *List) aboveStored(w *weigher, need float64, last uint64) bool {
	r := &l.base
	end := r.block.n
	if last < r.last {
		end = r.block.seek(r.i, last+1)
	}
	i := w.above(&r.block, r.i, end, need)
	r.stand(i)
	if l.id = r.id; i < end {
		return true
	}
	if l.hasFront {
		l.settle()
	}
	return false
}
