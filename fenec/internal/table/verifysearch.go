package table

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// tally sums entries up, in any order: two that are equal have seen the same
// ones, almost surely.
type tally struct {
	seed    maphash.Seed
	entries int
	sum     uint64
}

func (t *tally) add(key, value []byte) {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.Write(key)
	h.WriteByte(0)
	h.Write(value)
	t.entries++
	t.sum += h.Sum64()
}

// Put makes t a sink.
func (t *tally) Put(_ uint32, key, value []byte) error {
	t.add(key, value)
	return nil
}

// Delete does nothing: no row came before.
func (t *tally) Delete(uint32, []byte) error { return nil }

// postings reports whether x, an index of kind Text or Inverted, has other
// postings than the rows give it, or other figures.
func (f *verifier) postings(x *catalog.Index) {
	name := f.col.PathName(x)
	want := tally{seed: maphash.MakeSeed()}
	figures, err := f.tallyRows(x, &want)
	if err != nil {
		f.report("%w", err)
		return
	}
	got := tally{seed: want.seed}
	if err := f.tallyPostings(x, &got); err != nil {
		f.report("the index of %q: %w", name, err)
		return
	}
	if got != want {
		f.report("the index of %q has %d postings that sum up to %x, the rows %d to %x", name, got.entries, got.sum, want.entries, want.sum)
	}
	if x.Kind != catalog.Text {
		return
	}
	known, err := f.TextFigures(x)
	if err != nil || known != figures {
		f.report("the figures of the index of %q are %+v, counted %+v (%v)", name, known, figures, err)
	}
}

// tallyRows sums up the postings that the rows give x.
func (f *verifier) tallyRows(x *catalog.Index, to *tally) (figures TextFigures, err error) {
	var s searcher
	var none, doc row.Row
	scan := f.Scan(0, ^uint64(0), false)
	for scan.Next() {
		if err := doc.Reset(scan.Row()); err != nil {
			return figures, err
		}
		_, length, err := s.change(&entryOf{col: f.col, index: x, id: scan.ID(), to: to}, &none, &doc)
		if err != nil {
			return figures, err
		}
		if length > 0 {
			figures.Documents++
			figures.Length += int64(length)
		}
	}
	return figures, scan.Err()
}

// tallyPostings sums up the postings that x has.
func (f *verifier) tallyPostings(x *catalog.Index, to *tally) error {
	prefixes, err := f.prefixes(x)
	if err != nil {
		return err
	}
	for prefix := range prefixes {
		list, err := f.Postings(x, []byte(prefix))
		if err != nil {
			return err
		}
		var value []byte
		for ; list.ID() != posting.End; list.Next() {
			p := list.Posting()
			value = p.AppendValue(value[:0], kindOf(x))
			to.add(posting.AppendID([]byte(prefix), list.ID()), value)
		}
		if list.Err() != nil {
			return list.Err()
		}
	}
	return nil
}

// prefixes returns the prefixes of all terms that x has postings of.
func (f *verifier) prefixes(x *catalog.Index) (map[string]bool, error) {
	out := map[string]bool{}
	cur, err := f.view.Folded(x.Space)
	if err != nil {
		return nil, err
	}
	for cur.SeekGE(nil); cur.Valid(); cur.Next() {
		prefix, err := prefixOf(x, cur.Key())
		if err != nil {
			return nil, err
		}
		out[string(prefix)] = true
	}
	for fresh := f.view.Fresh(x.Space, nil, nil); fresh.Next(); {
		prefix, err := prefixOf(x, fresh.Key())
		if err != nil {
			return nil, err
		}
		out[string(prefix)] = true
	}
	return out, cur.Err()
}

// prefixOf returns the prefix that a key in the space of x begins with.
func prefixOf(x *catalog.Index, key []byte) ([]byte, error) {
	n := 4
	if x.Kind == catalog.Text {
		n = bytes.IndexByte(key, 0) + 1
	}
	if n == 0 || n > len(key) {
		return nil, fmt.Errorf("%w: key %x of a posting", ErrCorrupt, key)
	}
	return key[:n], nil
}
