package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Search indexes have no entry for each row, but
//
//	Text      a posting for each term of the text, and one of the empty term
//	Inverted  a posting for each component of the sparse vector
//	HNSW      the id, with the number of the sequence at which the row's vector
//	          last changed, also when it has none any more
//
// as fronts hold them; package search says what the base makes of them.

// AnalyzerOf returns how texts become terms in an index of kind Text.
func AnalyzerOf(x *catalog.Index) text.Analyzer {
	return text.Analyzer{Chars: x.Text.Chars, Prefix: x.Text.Prefix, PrefixMin: x.Text.PrefixMin}
}

// TextFigures are what is known of an index of kind Text without reading it.
type TextFigures struct {
	Documents int64 // that have a term
	Length    int64 // of all of them together, in terms
}

const textFiguresBytes = 16

func (f TextFigures) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(f.Documents))
	return binary.BigEndian.AppendUint64(dst, uint64(f.Length))
}

// TextFigures returns the figures of x, an index of kind Text that is built.
func (r *Reader) TextFigures(x *catalog.Index) (TextFigures, error) {
	return readTextFigures(r.view, x.Space)
}

func readTextFigures(v *store.View, space uint32) (TextFigures, error) {
	b, err := v.Get(Meta, textFiguresKey(space))
	if b == nil || err != nil {
		return TextFigures{}, err
	}
	if len(b) != textFiguresBytes {
		return TextFigures{}, fmt.Errorf("%w: figures of a text index of %d bytes", ErrCorrupt, len(b))
	}
	return TextFigures{int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))}, nil
}

func textFiguresKey(space uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'t'}, space) }

// touchedText is an index of kind Text whose figures the block has looked at.
type touchedText struct {
	space         uint32
	known, before TextFigures
}

// textFigures returns the figures of a text index as the block sees them, to be
// changed in place. The pointer is good until the next call.
func (t *Tx) textFigures(space uint32) (*TextFigures, error) {
	for i := range t.texts {
		if t.texts[i].space == space {
			return &t.texts[i].known, nil
		}
	}
	f, known := t.cache.texts[space]
	if !known {
		var err error
		if f, err = readTextFigures(t.View(), space); err != nil {
			return nil, err
		}
	}
	t.texts = append(t.texts, touchedText{space, f, f})
	return &t.texts[len(t.texts)-1].known, nil
}

// sealTexts writes the figures of text indexes that the block has changed.
func (t *Tx) sealTexts() error {
	for i := range t.texts {
		if x := &t.texts[i]; x.known != x.before {
			if err := t.block.Put(Meta, textFiguresKey(x.space), x.known.append(nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sink takes changes of keys: a *store.Block, or who gathers entries.
type sink interface {
	Put(space uint32, key, value []byte) error
	Delete(space uint32, key []byte) error
}

// searcher makes the entries of search indexes. It keeps memory from row to row.
type searcher struct {
	before, after text.Bag
	key, value    []byte
}

// maxKeptText bounds the texts whose bags are kept, in bytes.
const maxKeptText = 64 << 10

// search brings x, a search index, from the row before to the row after. Either
// may be no row.
func (w *Writer) search(x *catalog.Index, id uint64, before, after *row.Row) error {
	e := entryOf{col: w.col, index: x, id: id, seq: w.tx.block.Next() - 1, most: w.tx.block.MaxBytes(), to: w.tx.block}
	old, now, err := w.searcher.change(&e, before, after)
	if err != nil || x.Kind != catalog.Text || !w.col.Built(x) {
		return err // an index in the building is counted when it is installed
	}
	f, err := w.tx.textFigures(x.Space)
	if err != nil {
		return err
	}
	f.Length += int64(now) - int64(old)
	if old == 0 && now > 0 {
		f.Documents++
	}
	if old > 0 && now == 0 {
		f.Documents--
	}
	return nil
}

// entryOf says what a row's entries are of, and who takes them.
type entryOf struct {
	col   *catalog.Collection
	index *catalog.Index
	id    uint64
	seq   uint64 // of the change
	most  int64  // bytes that a block may take; 0 for any number
	to    sink
}

// change makes what the entries of an index change by when the row changes. For
// texts it returns their lengths, in terms.
func (s *searcher) change(e *entryOf, before, after *row.Row) (old, now uint32, err error) {
	switch e.index.Kind {
	case catalog.Text:
		return s.changeText(e, before, after)
	case catalog.Inverted:
		return 0, 0, s.changeSparse(e, before, after)
	}
	return 0, 0, s.changeVector(e, before, after)
}

// changeVector notes that the vector of a row has changed.
func (s *searcher) changeVector(e *entryOf, before, after *row.Row) error {
	old, err := before.Raw(e.index.Field)
	if err != nil {
		return err
	}
	now, err := after.Raw(e.index.Field)
	if err != nil {
		return err
	}
	if (old == nil) == (now == nil) && bytes.Equal(old, now) {
		return nil
	}
	s.key = binary.BigEndian.AppendUint64(s.key[:0], e.id)
	s.value = binary.BigEndian.AppendUint64(s.value[:0], e.seq)
	return e.to.Put(e.index.Space, s.key, s.value)
}

func (s *searcher) changeSparse(e *entryOf, before, after *row.Row) error {
	old, err := components(e, before)
	if err != nil {
		return err
	}
	now, err := components(e, after)
	if err != nil {
		return err
	}
	for len(old) > 0 || len(now) > 0 {
		if len(now) == 0 || len(old) > 0 && old[0].Index < now[0].Index {
			if err := s.gone(e, posting.IndexPrefix(s.key[:0], old[0].Index)); err != nil {
				return err
			}
			old = old[1:]
			continue
		}
		same := false
		if len(old) > 0 && old[0].Index == now[0].Index {
			same = old[0].Weight == now[0].Weight
			old = old[1:]
		}
		if !same {
			p := posting.Posting{ID: e.id, Weight: now[0].Weight}
			if err := s.put(e, posting.IndexPrefix(s.key[:0], now[0].Index), &p); err != nil {
				return err
			}
		}
		now = now[1:]
	}
	return nil
}

// components returns what the row's sparse vector has, by ascending index.
func components(e *entryOf, r *row.Row) ([]value.Entry, error) {
	v, err := indexed(e.col, e.index, r)
	if v.IsNull() || err != nil {
		return nil, err
	}
	_, entries := v.AsSparse()
	return entries, nil
}

// changeText brings the postings of a text index from the text before to the text
// after.
func (s *searcher) changeText(e *entryOf, before, after *row.Row) (old, now uint32, err error) {
	a, err := textOf(e, before)
	if err != nil {
		return 0, 0, err
	}
	b, err := textOf(e, after)
	if err != nil || a == b {
		return 0, 0, err
	}
	defer s.shed(max(len(a), len(b)))
	if err := s.fill(e, a, b); err != nil {
		return 0, 0, err
	}
	old, now = s.before.Length(), s.after.Length()
	if err := s.changeTerms(e); err != nil {
		return 0, 0, err
	}
	switch {
	case now > 0 && now != old:
		err = s.put(e, posting.TermPrefix(s.key[:0], ""), &posting.Posting{ID: e.id, TF: 1, Length: now})
	case old > 0 && now == 0:
		err = s.gone(e, posting.TermPrefix(s.key[:0], ""))
	}
	return old, now, err
}

// shed gives the bags' memory back if they have had a text of so many bytes.
func (s *searcher) shed(length int) {
	if length > maxKeptText {
		s.before, s.after = text.Bag{}, text.Bag{}
	}
}

// postingBytes is the least that a block takes for a posting beside the term.
const postingBytes = store.EntryBytes + 1 + idBytes

// fill makes the bags of the texts before and after. It ends early where what tells
// them apart cannot fit into a block.
func (s *searcher) fill(e *entryOf, before, after string) error {
	most, x := e.most, AnalyzerOf(e.index)
	if most == 0 {
		most = math.MaxInt64
	}
	ok := true
	if after == "" {
		ok = s.before.FillWithin(x, before, most, postingBytes)
	} else {
		s.before.Fill(x, before) // a change to a long text may be small
	}
	if ok {
		most = max(most, most+s.before.Size(postingBytes)) // unless that overflows
		ok = s.after.FillWithin(x, after, most, postingBytes)
	}
	if !ok {
		return fmt.Errorf("%w: the terms of field %q take more than %d bytes", store.ErrBlockTooLarge, e.col.PathName(e.index), e.most)
	}
	return nil
}

// textOf returns the text that an index has of a row, "" for none.
func textOf(e *entryOf, r *row.Row) (string, error) {
	v, err := indexed(e.col, e.index, r)
	if v.IsNull() || err != nil {
		return "", err
	}
	return v.AsText(), nil
}

// changeTerms writes the postings that tell the two bags apart.
func (s *searcher) changeTerms(e *entryOf) error {
	same := s.before.Length() == s.after.Length()
	for i, j := 0, 0; i < s.before.Len() || j < s.after.Len(); {
		sign := s.compare(i, j)
		if sign < 0 {
			term, _ := s.before.At(i)
			if err := s.gone(e, posting.TermPrefix(s.key[:0], term)); err != nil {
				return err
			}
			i++
			continue
		}
		term, freq := s.after.At(j)
		j++
		if sign == 0 {
			_, was := s.before.At(i)
			i++
			if same && was == freq {
				continue
			}
		}
		p := posting.Posting{ID: e.id, TF: freq, Length: s.after.Length()}
		if err := s.put(e, posting.TermPrefix(s.key[:0], term), &p); err != nil {
			return err
		}
	}
	return nil
}

// compare compares term i of the bag before with term j of the one after. One
// that is past the end comes last.
func (s *searcher) compare(i, j int) int {
	switch {
	case i == s.before.Len():
		return 1
	case j == s.after.Len():
		return -1
	}
	a, _ := s.before.At(i)
	b, _ := s.after.At(j)
	return bytes.Compare(a, b)
}

// put writes a posting under a prefix, which lies in s.key.
func (s *searcher) put(e *entryOf, prefix []byte, p *posting.Posting) error {
	s.key = posting.AppendID(prefix, e.id)
	s.value = p.AppendValue(s.value[:0], kindOf(e.index))
	return e.to.Put(e.index.Space, s.key, s.value)
}

// gone takes the row's posting under a prefix out.
func (s *searcher) gone(e *entryOf, prefix []byte) error {
	s.key = posting.AppendID(prefix, e.id)
	return e.to.Delete(e.index.Space, s.key)
}

func kindOf(x *catalog.Index) posting.Kind {
	if x.Kind == catalog.Inverted {
		return posting.Weights
	}
	return posting.Text
}
