package history

import "sort"

// segmentNotes is how many notes a segment of the tail holds.
const segmentNotes = 1024

// tail is the newest entries in memory, in segments of flat arrays. What is in
// a segment never changes; only the last one grows, so that copies of segments
// can be read without a lock.
type tail struct {
	segments []segment
	bytes    int64 // of all segments, about
}

// segment is some entries in order.
type segment struct {
	notes []note
	runs  []run // Invariant: not empty if notes is not
}

// run is where the numbers or the times of entries begin anew.
type run struct {
	first uint64 // number of the first entry
	at    int64
	start int // its place in notes
}

const runBytes = 24

// bytes returns the memory the segment is filled with.
func (s *segment) bytes() int64 {
	return int64(len(s.notes))*noteBytes + int64(len(s.runs))*runBytes
}

// last returns the number of the last entry.
func (s *segment) last() uint64 {
	r := &s.runs[len(s.runs)-1]
	return r.first + uint64(len(s.notes)-1-r.start)
}

// append adds a block's notes, which begin at number first.
func (t *tail) append(first uint64, at int64, notes []note) {
	for len(notes) > 0 {
		n := len(t.segments)
		if n == 0 || len(t.segments[n-1].notes) == segmentNotes {
			t.segments = append(t.segments, newSegment(n > 0))
			continue
		}
		s := &t.segments[n-1]
		part := notes[:min(len(notes), segmentNotes-len(s.notes))]
		t.bytes -= s.bytes()
		s.append(first, at, part)
		t.bytes += s.bytes()
		first += uint64(len(part))
		notes = notes[len(part):]
	}
}

// newSegment returns an empty segment. One that follows others will probably be
// filled.
func newSegment(follows bool) segment {
	if follows {
		return segment{notes: make([]note, 0, segmentNotes)}
	}
	return segment{}
}

func (s *segment) append(first uint64, at int64, notes []note) {
	n := len(s.runs)
	if n == 0 || s.runs[n-1].at != at || s.last()+1 != first {
		s.runs = append(s.runs, run{first, at, len(s.notes)})
	}
	s.notes = append(s.notes, notes...)
}

// dropTo forgets segments without an entry past seq.
func (t *tail) dropTo(seq uint64) {
	n := 0
	for n < len(t.segments) && t.segments[n].last() <= seq {
		t.bytes -= t.segments[n].bytes()
		n++
	}
	switch {
	case n == len(t.segments):
		t.segments = nil
	case n > 0:
		clear(t.segments[:n])
		t.segments = t.segments[n:]
	}
}

// after returns the segments with entries past seq. They may be read without
// the lock.
func (t *tail) after(seq uint64) []segment {
	i := sort.Search(len(t.segments), func(i int) bool { return t.segments[i].last() > seq })
	return append([]segment(nil), t.segments[i:]...)
}

// each calls fn with the entries of numbers in (after, upTo], in order, until it
// returns false; it returns whether fn never did.
func (s *segment) each(after, upTo uint64, fn func(Entry) bool) bool {
	for i, r := range s.runs {
		end := len(s.notes)
		if i+1 < len(s.runs) {
			end = s.runs[i+1].start
		}
		from := r.start
		if after >= r.first {
			from += int(min(after-r.first+1, uint64(end-from)))
		}
		for ; from < end; from++ {
			seq := r.first + uint64(from-r.start)
			if seq > upTo {
				return true
			}
			if !fn(s.notes[from].entry(seq, r.at)) {
				return false
			}
		}
	}
	return true
}

func (n *note) entry(seq uint64, at int64) Entry {
	return Entry{Seq: seq, At: at, Collection: n.collection, Op: n.op, Internal: n.internal, ID: n.id}
}
