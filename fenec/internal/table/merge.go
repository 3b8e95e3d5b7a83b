package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Merger is the store's Merger: it keeps the entries of search indexes in the
// base, postings in chunks (package posting), and of vectors those whose change a
// graph has not taken up, as the number of the sequence and the id, 8 bytes each.
type Merger struct{}

// Merge folds changes of one index.
func (Merger) Merge(tx *base.Tx, space uint32, next func() (base.Change, bool)) ([]base.Change, error) {
	switch kind := catalog.KindOfSpace(space); kind {
	case catalog.Text:
		return mergePostings(tx, space, posting.Text, next)
	case catalog.Inverted:
		return mergePostings(tx, space, posting.Weights, next)
	case catalog.HNSW:
		return mergePending(tx, space, next)
	}
	return nil, fmt.Errorf("%w: space %d is that of no search index", ErrCorrupt, space)
}

// mergePostings folds changes of postings.
func mergePostings(tx *base.Tx, space uint32, kind posting.Kind, next func() (base.Change, bool)) ([]base.Change, error) {
	terms, err := termChanges(kind, next)
	if err != nil {
		return nil, err
	}
	return mergeChanges(tx, space, kind, terms)
}

// mergeChanges folds the changes of each term, on all cores.
func mergeChanges(tx *base.Tx, space uint32, kind posting.Kind, terms []termChange) (out []base.Change, err error) {
	merged := make([][]posting.Change, len(terms))
	var at atomic.Int64
	errs := make(chan error, min(runtime.GOMAXPROCS(0), len(terms)/someTerms+1))
	for range cap(errs) {
		go func() { errs <- mergeTerms(tx, space, kind, terms, merged, &at) }()
	}
	for range cap(errs) {
		if e := <-errs; e != nil {
			err = e
		}
	}
	for _, list := range merged {
		for _, c := range list {
			out = append(out, changeOf(space, c))
		}
	}
	return out, err
}

// someTerms is how many terms one goroutine merges before it looks for more.
const someTerms = 256

// mergeTerms merges some terms, from at on, as long as there are any.
func mergeTerms(tx *base.Tx, space uint32, kind posting.Kind, terms []termChange, merged [][]posting.Change, at *atomic.Int64) (err error) {
	defer base.Recover(tx.Path(), base.Guard(), &err)
	cur, err := store.FoldedIn(tx, space)
	if err != nil {
		return err
	}
	for {
		end := int(at.Add(someTerms))
		for i := end - someTerms; i < min(end, len(terms)); i++ {
			if merged[i], err = posting.Merge(kind, cur, terms[i].prefix, terms[i].postings); err != nil {
				return err
			}
		}
		if end >= len(terms) {
			return nil
		}
	}
}

// termChange is what changes in the postings of a term.
type termChange struct {
	prefix   []byte
	start    int // of its postings among those of all terms
	postings []posting.Posting
}

// termChanges puts changes together by their terms.
func termChanges(kind posting.Kind, next func() (base.Change, bool)) (terms []termChange, err error) {
	var all []posting.Posting
	for c, ok := next(); ok; c, ok = next() {
		p, prefix, err := singlePosting(kind, c)
		if err != nil {
			return nil, err
		}
		if n := len(terms); n == 0 || !bytes.Equal(prefix, terms[n-1].prefix) {
			terms = append(terms, termChange{prefix: prefix, start: len(all)})
		}
		all = append(all, p)
	}
	end := len(all)
	for i := len(terms) - 1; i >= 0; i-- {
		terms[i].postings = all[terms[i].start:end]
		end = terms[i].start
	}
	return terms, nil
}

func changeOf(space uint32, c posting.Change) base.Change {
	if c.Value == nil {
		return base.Change{Op: base.OpDelete, Space: space, Key: c.Key}
	}
	return base.Change{Space: space, Key: c.Key, Value: c.Value}
}

func singlePosting(kind posting.Kind, c base.Change) (p posting.Posting, prefix []byte, err error) {
	if c.Op == base.OpDelete {
		return goneKey(c.Key)
	}
	prefix, p, err = posting.Single(kind, c.Key, c.Value)
	return p, prefix, err
}

// goneKey returns the posting that a deleted key says is gone.
func goneKey(k []byte) (p posting.Posting, prefix []byte, err error) {
	at := len(k) - idBytes
	if at < 1 {
		return p, nil, fmt.Errorf("%w: key %x of a posting", ErrCorrupt, k)
	}
	return posting.Posting{ID: binary.BigEndian.Uint64(k[at:]), Gone: true}, k[:at], nil
}

// Postings returns the posting list under a prefix of x, an index of kind Text or
// Inverted. While it is in use, no scan of the same view may go on.
func (r *Reader) Postings(x *catalog.Index, prefix []byte) (*posting.List, error) {
	var front []posting.Posting
	for f := r.view.Fresh(x.Space, prefix, key.Next(bytes.Clone(prefix))); f.Next(); {
		p, _, err := freshPosting(kindOf(x), f)
		if err != nil {
			return nil, err
		}
		front = append(front, p)
	}
	cur, err := r.view.Folded(x.Space)
	if err != nil {
		return nil, err
	}
	return posting.NewList(kindOf(x), cur, prefix, front)
}

func freshPosting(kind posting.Kind, f *store.Fresh) (p posting.Posting, prefix []byte, err error) {
	if f.Gone() {
		return goneKey(f.Key())
	}
	prefix, p, err = posting.Single(kind, f.Key(), f.Value())
	return p, prefix, err
}

// recount counts the figures of x, an index of kind Text, from its list of all
// documents.
func (r *Reader) recount(x *catalog.Index) (f TextFigures, err error) {
	list, err := r.Postings(x, posting.TermPrefix(nil, ""))
	if err != nil {
		return f, err
	}
	for ; list.ID() != posting.End; list.Next() {
		f.Documents++
		f.Length += int64(list.Posting().Length)
	}
	return f, list.Err()
}

// Pending is the change of a row's vector that a graph has not taken up.
type Pending struct {
	Seq uint64 // the number of the sequence it took, or one since
	ID  uint64
}

const pendingBytes = 16

// Compare compares by the order in which graphs take changes up.
func (p Pending) Compare(q Pending) int {
	return cmp.Or(cmp.Compare(p.Seq, q.Seq), cmp.Compare(p.ID, q.ID))
}

// Append appends the stored form of p.
func (p Pending) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, p.Seq)
	return binary.BigEndian.AppendUint64(dst, p.ID)
}

func parsePending(b []byte) (Pending, error) {
	if len(b) != pendingBytes {
		return Pending{}, fmt.Errorf("%w: a pending vector of %d bytes", ErrCorrupt, len(b))
	}
	return Pending{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}

// mergePending adds changes of vectors to those that are pending, and takes those
// out that the graph in the base has taken up.
func mergePending(tx *base.Tx, space uint32, next func() (base.Change, bool)) (out []base.Change, err error) {
	linked, err := LinkedIn(tx, space)
	if err != nil {
		return nil, err
	}
	cur, err := store.FoldedIn(tx, space)
	if err != nil {
		return nil, err
	}
	for cur.SeekGE(nil); cur.Valid(); cur.Next() {
		p, err := parsePending(cur.Key())
		if err != nil {
			return nil, err
		}
		if p.Compare(linked) > 0 {
			break
		}
		out = append(out, base.Change{Op: base.OpDelete, Space: space, Key: p.Append(nil)})
	}
	added := len(out)
	for c, ok := next(); ok; c, ok = next() {
		p, err := freshPending(c.Key, c.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, base.Change{Space: space, Key: p.Append(nil)})
	}
	slices.SortFunc(out[added:], func(a, b base.Change) int { return bytes.Compare(a.Key, b.Key) })
	return out, cur.Err()
}

// freshPending returns what a key and a value in a front say.
func freshPending(k, v []byte) (Pending, error) {
	if len(k) != idBytes || len(v) != 8 {
		return Pending{}, fmt.Errorf("%w: a pending vector of %d and %d bytes", ErrCorrupt, len(k), len(v))
	}
	return Pending{Seq: binary.BigEndian.Uint64(v), ID: binary.BigEndian.Uint64(k)}, nil
}

// LinkedKey is the key in the space of a graph under which the base holds the
// last change that the graph has taken up, with all before it.
var LinkedKey = []byte{0}

// LinkedIn returns what LinkedKey says for the index of vectors in that space.
func LinkedIn(tx *base.Tx, space uint32) (Pending, error) {
	return parseLinked(tx.Get(catalog.GraphOf(space), LinkedKey))
}

// Linked returns what LinkedKey says for x, an index of kind HNSW.
func (r *Reader) Linked(x *catalog.Index) (Pending, error) {
	return parseLinked(r.view.Get(x.GraphSpace(), LinkedKey))
}

// parseLinked reads what a look at LinkedKey gave.
func parseLinked(b []byte, err error) (Pending, error) {
	if b == nil || err != nil {
		return Pending{}, err
	}
	return parsePending(b)
}

// Fresh returns the ids of rows whose vectors x, an index of kind HNSW, has in the
// fronts, ascending: those changed since the base, or as folded into it lately.
func (r *Reader) Fresh(x *catalog.Index) ([]uint64, error) {
	var list []uint64
	for f := r.view.Fresh(x.Space, nil, nil); f.Next(); {
		p, err := freshPending(f.Key(), f.Value())
		if err != nil {
			return nil, err
		}
		list = append(list, p.ID)
	}
	return list, nil
}

// PendingAfter returns the changes of vectors that the base has of x, an index of
// kind HNSW, after p, in their order.
func (r *Reader) PendingAfter(x *catalog.Index, p Pending) ([]Pending, error) {
	cur, err := r.view.Folded(x.Space)
	if err != nil {
		return nil, err
	}
	return pendingAfter(cur, p, math.MaxUint64, math.MaxInt)
}

// Unlinked returns how many changes of vectors a graph of x, an index of kind HNSW,
// has not taken up that has those up to p. It costs a look at each page of the base
// that tells of them, and at each change in the fronts.
func (r *Reader) Unlinked(x *catalog.Index, p Pending) (int64, error) {
	n, folded, err := r.view.CountFolded(x.Space, append(p.Append(nil), 0), nil)
	if err != nil {
		return 0, err
	}
	for f := r.view.Fresh(x.Space, nil, nil); f.Next(); {
		p, err := freshPending(f.Key(), f.Value())
		if err != nil {
			return 0, err
		}
		if p.Seq > folded {
			n++
		}
	}
	return n, nil
}

// PendingIn returns those of the changes of vectors after p in a base that are
// folded, at most so many.
func PendingIn(tx *base.Tx, x *catalog.Index, p Pending, most int) ([]Pending, error) {
	cur, err := store.FoldedIn(tx, x.Space)
	if err != nil {
		return nil, err
	}
	return pendingAfter(cur, p, tx.Folded(), most)
}

// WaitingIn returns all changes of vectors after p that a base has.
func WaitingIn(tx *base.Tx, x *catalog.Index, p Pending) ([]Pending, error) {
	cur, err := store.FoldedIn(tx, x.Space)
	if err != nil {
		return nil, err
	}
	return pendingAfter(cur, p, math.MaxUint64, math.MaxInt)
}

func pendingAfter(cur *store.Folded, p Pending, last uint64, most int) (list []Pending, err error) {
	for cur.SeekGE(append(p.Append(nil), 0)); cur.Valid() && len(list) < most; cur.Next() {
		p, err := parsePending(cur.Key())
		if err != nil {
			return nil, err
		}
		if p.Seq > last {
			break
		}
		list = append(list, p)
	}
	return list, cur.Err()
}
