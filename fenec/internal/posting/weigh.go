package posting

import "math"

// Scorer computes BM25 scores (Robertson and Zaragoza, 2009). A document's score
// is the sum of what the terms of the query that it has contribute,
//
//	count · idf · tf·(K1+1) / (tf + K1·(1 − B + B·length/AverageLength))
//
// each computed in float32. With B above 1 contributions of short documents may
// be negative or infinite.
type Scorer struct {
	K1, B         float32
	Documents     uint64  // that have a term at all
	AverageLength float64 // of these documents, in terms
}

// IDF returns the weight of a term that df documents have.
func (s Scorer) IDF(df uint64) float32 {
	n, d := float64(max(s.Documents, df)), float64(df)
	return float32(math.Log(1 + (n-d+0.5)/(d+0.5)))
}

// weigher computes the contributions of a term's postings.
type weigher struct {
	kind Kind

	// Of a text: gain/(1 + norm/tf), norm = base + slope·length, which is the
	// formula above. In this form every step, rounding included, is monotone in tf
	// and in length, as long as norm is not negative. So no posting of a set
	// contributes more than the best pair of its bound.
	gain, base, slope float32

	weight float64 // of the query, for weights
}

func (s Scorer) weigher(count int, idf float32) weigher {
	average := float32(max(s.AverageLength, 1))
	return weigher{
		kind:  Text,
		gain:  float32(float32(count)*idf) * (s.K1 + 1),
		base:  s.K1 * (1 - s.B),
		slope: float32(s.K1*s.B) / average,
	}
}

func dotWeigher(weight float32) weigher {
	return weigher{kind: Weights, weight: float64(weight)}
}

// norm is not fused into one step on any platform, so scores are the same on all.
func (w *weigher) norm(length float32) float32 {
	return w.base + float32(w.slope*length)
}

func (w *weigher) text(tf, length float32) float32 {
	return w.gain / (1 + w.norm(length)/tf)
}

// product is exact: the product of two float32 has at most 48 bits.
func (w *weigher) product(weight float32) float64 { return w.weight * float64(weight) }

// weigh returns what p contributes.
func (w *weigher) weigh(p *Posting) float64 {
	if w.kind == Weights {
		return w.product(p.Weight)
	}
	return float64(w.text(float32(p.TF), float32(p.Length)))
}

// stored returns what posting i of b contributes.
func (w *weigher) stored(b *block, i int) float64 {
	if w.kind == Weights {
		return w.product(b.weight(i))
	}
	return float64(w.text(float32(int64(b.tf.at(i)+1)), float32(int64(b.lengths.at(i)))))
}

// all computes what the postings of b from i on contribute.
func (w *weigher) all(b *block, shares []float64, i int) {
	if w.kind == Weights {
		for j := range shares {
			shares[j] = w.product(b.weight(i + j))
		}
		return
	}
	weigher, tfs, lengths := *w, b.tf, b.lengths // copies, to be kept in registers
	for j := range shares {
		tf, length := float32(int64(tfs.at(i+j)+1)), float32(int64(lengths.at(i+j)))
		shares[j] = float64(weigher.text(tf, length))
	}
}

// limit returns the most that postings of a set contribute, at least 0, and the
// most that the absolute values of their contributions are.
func (w *weigher) limit(b *bound) (most, size float64) {
	if w.kind == Weights {
		if !b.weighted {
			return 0, 0
		}
		x, y := w.product(b.least), w.product(b.most)
		return max(x, y, 0), max(math.Abs(x), math.Abs(y))
	}
	for i := range b.n {
		p := &b.pairs[i]
		if w.norm(float32(p.length)) < 0 {
			return math.Inf(1), math.Inf(1)
		}
		most = max(most, float64(w.text(float32(p.tf), float32(p.length))))
	}
	return most, most
}

// above returns the first posting in [i, end) of b that contributes more than
// need, or end.
func (w *weigher) above(b *block, i, end int, need float64) int {
	if w.kind == Text && w.base >= 0 && need > 0 {
		return w.aboveText(b, i, end, need)
	}
	for i < end && !(w.stored(b, i) > need) {
		i++
	}
	return i
}

// aboveText is above where norms are not negative. It divides only where what
// follows from it does not rule a posting out: gain·tf/(tf+norm) > need means
// (gain−need)·tf > need·norm. The slack is far more than rounding takes.
func (w *weigher) aboveText(b *block, i, end int, need float64) int {
	const slack = 1e-5
	short := float32(need) * (1 - slack)
	spare := w.gain*(1+slack) - float32(need)
	base, slope := short*w.base, short*w.slope
	for ; i < end; i++ {
		tf, length := float32(int64(b.tf.at(i)+1)), float32(int64(b.lengths.at(i)))
		if spare*tf > base+slope*length && float64(w.text(tf, length)) > need {
			break
		}
	}
	return i
}
