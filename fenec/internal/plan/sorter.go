package plan

import (
	"bytes"
	"encoding/binary"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// sorter puts rows in order. It keeps the first of them, as many as are wanted,
// and with them copies of their data.
type sorter struct {
	r      *run
	most   int64 // rows to keep
	kept   []*sorted
	heap   bool // kept is full and its greatest row comes first
	key    []byte
	memory Arena
}

// sorted is a row among others.
type sorted struct {
	head uint64 // the beginning of key, which mostly decides
	key  []byte // see order.appendKey
	row  Row
	vals []value.Value // what is sorted by, where key does not tell all rows apart
}

func newSorter(r *run) *sorter { return &sorter{r: r, most: r.left.end} }

// take makes s a sink.
func (s *sorter) take(id uint64, b []byte) error {
	b = s.r.still(b)
	ok, err := s.r.test(id, b)
	if !ok || err != nil {
		return err
	}
	cut := false
	if s.key, cut, err = s.r.order.appendKey(s.key[:0], s.r.f); err != nil {
		return err
	}
	e := sorted{head: head(s.key), key: s.key, row: Row{ID: id, Data: b}}
	if cut {
		if e.vals, err = s.r.order.values(s.r.f); err != nil {
			return err
		}
	}
	if int64(len(s.kept)) < s.most {
		s.kept = append(s.kept, s.keep(&e))
		return nil
	}
	if !s.heap {
		s.makeHeap()
	}
	if s.compare(&e, s.kept[0]) < 0 {
		s.replace(&e)
	}
	return nil
}

// head returns the first bytes of a key as a number in the same order.
func head(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// keep returns e in memory of its own.
func (s *sorter) keep(e *sorted) *sorted {
	out := *e
	out.key = s.memory.Copy(e.key)
	if s.r.onlyIDs {
		out.row.Data = nil
	} else {
		out.row.Data, out.row.Kept = s.memory.Copy(e.row.Data), true
	}
	return &out
}

// replace puts e in the place of the greatest row, and in its memory where that
// suffices.
func (s *sorter) replace(e *sorted) {
	old := s.kept[0]
	key, data := append(old.key[:0], e.key...), old.row.Data
	if !s.r.onlyIDs {
		data = append(data[:0], e.row.Data...)
	}
	*old = *e
	old.key = key
	old.row.Data, old.row.Kept = data, !s.r.onlyIDs
	s.sink(0)
}

// compare returns -1, 0 or 1 as a comes before, with or after b.
func (s *sorter) compare(a, b *sorted) int {
	switch {
	case a.head < b.head:
		return -1
	case a.head > b.head:
		return 1
	}
	var sign int
	if a.vals != nil && b.vals != nil {
		sign = s.r.order.compareValues(a.vals, b.vals)
	} else {
		sign = bytes.Compare(a.key, b.key)
	}
	if sign != 0 {
		return sign
	}
	return s.r.order.compareIDs(a.row.ID, b.row.ID)
}

// makeHeap makes kept a heap with its greatest row first.
func (s *sorter) makeHeap() {
	s.heap = true
	for i := len(s.kept)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
}

// sink moves the row at i down to where it belongs.
func (s *sorter) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.kept) {
			return
		}
		if child+1 < len(s.kept) && s.compare(s.kept[child+1], s.kept[child]) > 0 {
			child++
		}
		if s.compare(s.kept[i], s.kept[child]) >= 0 {
			return
		}
		s.kept[i], s.kept[child] = s.kept[child], s.kept[i]
		i = child
	}
}

// emit picks the rows in order.
func (s *sorter) emit() error {
	if err := Sort(s.r.ctx, s.kept, s.compare); err != nil {
		return err
	}
	for _, e := range s.kept {
		if err := s.r.step(); err != nil {
			return err
		}
		if !s.r.onlyIDs {
			if err := s.r.f.Stand(e.row.ID, e.row.Data); err != nil {
				return err
			}
		}
		if err := s.r.pick(e.row); err != nil {
			return err
		}
	}
	return nil
}
