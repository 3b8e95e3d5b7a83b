package posting

import "context"

// checkEvery is after how many documents or blocks a query looks at its context.
const checkEvery = 512

// Each calls fn for every document that has one of the query's terms and a score
// that counts, by ascending id, until it fails. It is the faster way where most
// documents are wanted.
func (q *Query) Each(ctx context.Context, fn func(h Hit) error) error {
	if len(q.terms) >= manyTerms {
		return q.sweep(ctx, fn)
	}
	runs := make([]run, len(q.terms))
	id := uint64(End)
	for i := range runs {
		runs[i].term = &q.terms[i]
		id = min(id, runs[i].fill())
	}
	for n := 0; id != End; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		sum, next := 0.0, uint64(End)
		for i := range runs {
			r := &runs[i]
			if r.id == id {
				sum += r.share()
				r.next()
			}
			next = min(next, r.id)
		}
		if score := Score(sum); score > q.floor {
			if err := fn(Hit{id, score}); err != nil {
				return err
			}
		}
		id = next
	}
	return q.err()
}

// run reads the postings of a term in bulk: what those of a block contribute is
// computed in one go, which is faster than one by one between other lists.
type run struct {
	*term
	id     uint64 // or End
	at, n  int
	ids    [maxBlock]uint64
	shares [maxBlock]float64
}

// share returns what the document at hand gets from the list.
func (r *run) share() float64 { return r.shares[r.at] }

// next moves to the following posting.
func (r *run) next() {
	if r.at++; r.at < r.n {
		r.id = r.ids[r.at]
		return
	}
	r.fill()
}

// fill reads further postings and returns the id of the first.
func (r *run) fill() uint64 {
	r.at, r.n, r.id = 0, 0, End
	if l := r.list; l.hasFront {
		r.fillOverlaid()
	} else if l.id != End {
		b := &l.base.block
		r.n = b.n - l.base.i
		b.read(r.ids[:r.n], l.base.i)
		r.weigher.all(b, r.shares[:r.n], l.base.i)
		l.base.nextBlock()
		l.id = l.base.id
	}
	if r.n > 0 {
		r.id = r.ids[0]
	}
	return r.id
}

func (r *run) fillOverlaid() {
	for r.n < maxBlock && r.list.id != End {
		r.ids[r.n], r.shares[r.n] = r.list.id, r.list.weigh(&r.weigher)
		r.n++
		r.list.Next()
	}
}
