package posting

import "slices"

// packer turns postings of one term into chunks.
type packer struct{ enc encoder }

func newPacker(kind Kind, prefix []byte) packer {
	return packer{encoder{kind: kind, seed: seedOf(prefix)}}
}

// fill makes the encoder's chunk of as many of ps as fit, in whole blocks, and
// returns how many those are.
func (p *packer) fill(ps []Posting) int {
	p.enc.reset()
	n := 0
	for block := range slices.Chunk(ps[:min(len(ps), maxChunk)], maxBlock) {
		if !p.enc.add(block) {
			break
		}
		n += len(block)
	}
	return n
}

// part is postings that make a chunk.
type part struct {
	postings []Posting
	chunk    []byte // that is not the head's
}

// full returns the chunks of ps, the last postings of a term: all but the last are
// full, as what is added later mostly comes behind.
func (p *packer) full(ps []Posting) []part {
	var parts []part
	for len(ps) > 0 {
		n := p.fill(ps)
		parts = append(parts, part{ps[:n], p.enc.finish(nil)})
		ps = ps[n:]
	}
	return parts
}

// even returns the chunks of ps, which lie before others of the term: halves until
// each fits, so that all have room.
func (p *packer) even(ps []Posting) []part {
	if len(ps) <= maxChunk && p.fill(ps) == len(ps) {
		if len(ps) == 0 {
			return nil
		}
		return []part{{ps, p.enc.finish(nil)}}
	}
	middle := len(ps) / 2
	return append(p.even(ps[:middle]), p.even(ps[middle:])...)
}

// encode returns the head's chunk of ps, which full or even have found to fit.
func (p *packer) encode(ps []Posting, h *head) []byte {
	p.fill(ps)
	return p.enc.finish(h)
}
