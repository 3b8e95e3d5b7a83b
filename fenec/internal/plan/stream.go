package plan

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// maxStreams is the most values whose entries are merged by id.
const maxStreams = 64

// streams reports whether the entries of o can be merged by id.
func (o *option) streams() bool {
	for i := range o.spans {
		if o.spans[i].key == nil {
			return false
		}
	}
	return o.length() <= maxStreams
}

// stream produces the rows of entries that come by id, merged, until they turn
// out to be so many that it scans what is left.
func (r *run) stream(o *option, in ids, reverse bool) error {
	most, err := r.worthwhile(in)
	if err != nil {
		return err
	}
	r.trace.stream(r, o)
	m := newMerge(r, o, reverse)
	defer m.end()
	for range most {
		id, ok, err := m.next()
		if !ok || err != nil {
			return err
		}
		if id < in.first || id > in.last {
			continue
		}
		if err := r.point(id, r); err != nil {
			return err
		}
	}
	rest := beyond(in, m.last, reverse)
	r.trace.gaveUp(most)
	r.trace.scan(rest)
	return r.scan(rest, reverse, r)
}

// merge joins entries of several values, each by id, into one sequence by id.
type merge struct {
	run     *run
	scans   []*table.IndexScan // those that stand at an entry, in the run's memory
	reverse bool
	last    uint64 // produced
	begun   bool
	err     error
}

// newMerge returns the merge of o's entries, which is to be ended.
func newMerge(r *run, o *option, reverse bool) merge {
	m := merge{run: r, scans: r.scans[:0], reverse: reverse}
	for i := range o.spans {
		m.scans = append(m.scans, r.index(&o.spans[i], reverse))
		m.step(len(m.scans) - 1)
	}
	return m
}

// step moves a scan on, which is ended when it has come to its end.
func (m *merge) step(i int) {
	s := m.scans[i]
	if s.Next() {
		return
	}
	if s.Err() != nil {
		m.err = s.Err()
	}
	s.Close()
	m.scans = slices.Delete(m.scans, i, i+1)
}

// end ends the scans that are left.
func (m *merge) end() {
	for _, s := range m.scans {
		s.Close()
	}
	clear(m.scans)
	m.run.scans = m.scans[:0]
}

// next returns the next id.
func (m *merge) next() (id uint64, ok bool, err error) {
	for m.err == nil && len(m.scans) > 0 {
		best := 0
		for i, s := range m.scans {
			if m.before(s.ID(), m.scans[best].ID()) {
				best = i
			}
		}
		id := m.scans[best].ID()
		m.step(best)
		if !m.begun || id != m.last {
			m.begun, m.last = true, id
			return id, true, nil
		}
	}
	return 0, false, m.err
}

func (m *merge) before(a, b uint64) bool {
	if m.reverse {
		return a > b
	}
	return a < b
}
