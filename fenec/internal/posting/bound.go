package posting

import (
	"encoding/binary"
	"math"
)

// maxPairs is how many pairs the bound of a text has at most. Blocks of texts of
// like length mostly need no more.
const maxPairs = 4

// pair is a term frequency and a length of a document.
type pair struct{ tf, length uint32 }

// bound says what no posting of a set goes beyond. The zero bound is that of
// the empty set.
type bound struct {
	// For every posting of a text there is a pair of at least its frequency and at
	// most its length. Invariant: both ascend strictly from pair to pair, so none
	// is contained in another. The room for one more is used within add only.
	pairs [maxPairs + 1]pair
	n     int // pairs

	least, most float32 // weight
	weighted    bool    // least and most are those of some posting
}

// add makes p one of the set.
func (b *bound) add(kind Kind, p *Posting) {
	if kind == Weights {
		b.addWeight(p.Weight)
	} else {
		b.addPair(pair{p.TF, p.Length})
	}
}

// join makes all postings of o's set members of b's.
func (b *bound) join(kind Kind, o *bound) {
	if kind == Weights {
		if o.weighted {
			b.addWeight(o.least)
			b.addWeight(o.most)
		}
		return
	}
	for _, p := range o.pairs[:o.n] {
		b.addPair(p)
	}
}

func (b *bound) addWeight(w float32) {
	if !b.weighted {
		b.least, b.most, b.weighted = w, w, true
		return
	}
	b.least, b.most = min(b.least, w), max(b.most, w)
}

func (b *bound) addPair(p pair) {
	at := 0
	for at < b.n && b.pairs[at].tf < p.tf {
		at++
	}
	if at < b.n && b.pairs[at].length <= p.length {
		return
	}
	// Those that p contains have at most its frequency and at least its length:
	// some just before it, and the one at it if the frequency is the same.
	from, to := at, at
	for from > 0 && b.pairs[from-1].length >= p.length {
		from--
	}
	if to < b.n && b.pairs[to].tf == p.tf {
		to++
	}
	tail := b.n - to
	copy(b.pairs[from+1:from+1+tail], b.pairs[to:b.n])
	b.pairs[from] = p
	if b.n = from + 1 + tail; b.n > maxPairs {
		b.narrow()
	}
}

// narrow puts one pair in the place of the two neighbours that are nearest to
// each other, by the ratios of their frequencies and lengths.
func (b *bound) narrow() {
	best, nearest := 0, math.Inf(1)
	for i := range b.n - 1 {
		p, q := b.pairs[i], b.pairs[i+1]
		apart := float64(q.tf) / float64(p.tf) * (float64(q.length) + 1) / (float64(p.length) + 1)
		if apart < nearest {
			best, nearest = i, apart
		}
	}
	b.pairs[best].tf = b.pairs[best+1].tf
	copy(b.pairs[best+1:], b.pairs[best+2:b.n])
	b.n--
}

// append appends the stored form of the bound to dst.
func (b *bound) append(dst []byte, kind Kind) []byte {
	if kind == Weights {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(b.least))
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(b.most))
	}
	dst = append(dst, byte(b.n))
	for _, p := range b.pairs[:b.n] {
		dst = binary.AppendUvarint(dst, uint64(p.tf))
		dst = binary.AppendUvarint(dst, uint64(p.length))
	}
	return dst
}

// parse reads a stored bound and returns how many bytes it takes, or 0 if it is
// none.
func (b *bound) parse(data []byte, kind Kind) int {
	if kind == Weights {
		return b.parseWeights(data)
	}
	if len(data) == 0 || data[0] == 0 || data[0] > maxPairs {
		return 0
	}
	b.n = int(data[0])
	at, before := 1, pair{}
	for i := range b.n {
		tf, n := shortUvarint(data[at:])
		length, m := shortUvarint(data[at+n:])
		p := pair{uint32(tf), uint32(length)}
		if n == 0 || m == 0 || max(tf, length) > math.MaxUint32 || p.tf <= before.tf || i > 0 && p.length <= before.length {
			return 0
		}
		b.pairs[i], before = p, p
		at += n + m
	}
	return at
}

func (b *bound) parseWeights(data []byte) int {
	if len(data) < 8 {
		return 0
	}
	b.least = math.Float32frombits(binary.LittleEndian.Uint32(data))
	b.most = math.Float32frombits(binary.LittleEndian.Uint32(data[4:]))
	b.weighted = true
	if !(b.least <= b.most) || math.IsInf(float64(b.least), 0) || math.IsInf(float64(b.most), 0) {
		return 0
	}
	return 8
}

// shortUvarint is binary.Uvarint, faster for numbers of one byte. It returns no
// bytes where there is no number.
func shortUvarint(data []byte) (v uint64, n int) {
	if len(data) > 0 && data[0] < 0x80 {
		return uint64(data[0]), 1
	}
	v, n = binary.Uvarint(data)
	return v, max(n, 0)
}
