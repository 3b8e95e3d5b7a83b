package history

import (
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

const headVersion = 1

// headKey is the key of the head; no entry has number 0.
var headKey = numberKey(0)

func numberKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// span is numbers of entries that follow each other, first and last included.
type span struct{ first, last uint64 }

// known is what is known of the history without reading it.
type known struct {
	upTo    uint64 // what is stored ends there
	horizon uint64
	bytes   int64     // of the stored chunks with their keys
	ranges  []span    // numbers with an entry past the horizon, ascending, with gaps between
	entries uint64    // how many there are in ranges
	dropped []dropped // since the horizon, oldest first, at most maxDropped
}

// The most that a head lists. Of more ranges the oldest are pushed out; of more
// collections dropped the oldest lose their names.
const (
	maxRanges  = 256
	maxDropped = 256
)

// append appends the head as it is stored.
func (k *known) append(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, headVersion)
	dst = binary.AppendUvarint(dst, k.upTo)
	dst = binary.AppendUvarint(dst, k.horizon)
	dst = binary.AppendUvarint(dst, uint64(k.bytes))
	dst = binary.AppendUvarint(dst, uint64(len(k.ranges)))
	at := k.horizon
	for _, r := range k.ranges {
		dst = binary.AppendUvarint(dst, r.first-at-1)
		dst = binary.AppendUvarint(dst, r.last-r.first)
		at = r.last
	}
	dst = binary.AppendUvarint(dst, uint64(len(k.dropped)))
	for _, d := range k.dropped {
		dst = binary.AppendUvarint(dst, d.seq)
		dst = binary.AppendUvarint(dst, uint64(d.number))
		dst = binary.AppendUvarint(dst, uint64(len(d.name)))
		dst = append(dst, d.name...)
	}
	return row.SealFrom(dst, from)
}

// decodeHead reads a stored head.
func decodeHead(b []byte) (k known, err error) {
	data, err := row.Open(b)
	if err != nil {
		return k, fmt.Errorf("%w: the checksum of the head", ErrCorrupt)
	}
	d := decoder{rest: data}
	if v := d.byte(); v != headVersion {
		return k, fmt.Errorf("%w: version %d, this program reads %d", ErrCorrupt, v, headVersion)
	}
	k.upTo, k.horizon, k.bytes = d.uvarint(), d.uvarint(), int64(d.uvarint())
	at := k.horizon
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		first := at + 1 + d.uvarint()
		last := first + d.uvarint()
		d.bad = d.bad || first <= at || last < first
		k.ranges = append(k.ranges, span{first, last})
		k.entries += last - first + 1
		at = last
	}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		x := dropped{seq: d.uvarint(), number: uint32(d.uvarint())}
		x.name = string(d.take(d.uvarint()))
		k.dropped = append(k.dropped, x)
	}
	if d.bad || len(d.rest) > 0 || k.bytes < 0 || at > k.upTo {
		return known{}, fmt.Errorf("%w: the head", ErrCorrupt)
	}
	return k, nil
}

// add notes that there are entries for n numbers from first on.
func (k *known) add(first, n uint64) {
	k.entries += n
	if i := len(k.ranges) - 1; i >= 0 && k.ranges[i].last+1 == first {
		k.ranges[i].last += n
		return
	}
	k.ranges = append(k.ranges, span{first, first + n - 1})
	if len(k.ranges) > maxRanges {
		k.pushOut(k.ranges[0].last)
	}
}

// pushOut raises the horizon.
func (k *known) pushOut(horizon uint64) {
	if horizon <= k.horizon {
		return
	}
	k.horizon = horizon
	for len(k.ranges) > 0 && k.ranges[0].first <= horizon {
		r := &k.ranges[0]
		if r.last > horizon {
			k.entries -= horizon + 1 - r.first
			r.first = horizon + 1
			break
		}
		k.entries -= r.last + 1 - r.first
		k.ranges = k.ranges[1:]
	}
	for len(k.dropped) > 0 && k.dropped[0].seq <= horizon {
		k.dropped = k.dropped[1:]
	}
}

// bound pushes out the oldest entries that are more than most.
func (k *known) bound(most uint64) {
	for k.entries > most {
		r, over := k.ranges[0], k.entries-most
		k.pushOut(min(r.last, r.first+over-1))
	}
}

// until returns what of k concerns numbers up to seq, for the head of a fold.
func (k *known) until(seq uint64) known {
	out := known{upTo: seq, horizon: min(k.horizon, seq), bytes: k.bytes}
	for _, r := range k.ranges {
		if r.first <= seq {
			out.ranges = append(out.ranges, span{r.first, min(r.last, seq)})
		}
	}
	for _, d := range k.dropped {
		if d.seq <= seq {
			out.dropped = append(out.dropped, d)
		}
	}
	return out
}

// drop notes that a collection went.
func (k *known) drop(d dropped) {
	k.dropped = append(k.dropped, d)
	if over := len(k.dropped) - maxDropped; over > 0 {
		k.dropped = k.dropped[over:]
	}
}
