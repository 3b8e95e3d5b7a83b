package posting

import "slices"

// packer turns postings into chunks.
type packer struct {
	kind Kind
	enc  encoder
}

// fill makes the encoder's chunk of as many of ps as fit, in whole blocks, and
// returns how many those are.
func (p *packer) fill(ps []Posting) int {
	p.enc.reset(p.kind)
	n := 0
	for block := range slices.Chunk(ps[:min(len(ps), maxChunk)], maxBlock) {
		if !p.enc.add(block) {
			break
		}
		n += len(block)
	}
	return n
}

// full returns where ps, the last postings of a term, are to be parted into
// chunks: all but the last are full, as what is added later mostly comes behind.
func (p *packer) full(ps []Posting) [][]Posting {
	var parts [][]Posting
	for len(ps) > 0 {
		n := p.fill(ps)
		parts = append(parts, ps[:n])
		ps = ps[n:]
	}
	return parts
}

// even returns where ps, which lie before others of the term, are to be parted:
// into halves until each fits, so that all have room.
func (p *packer) even(ps []Posting) [][]Posting {
	if len(ps) <= maxChunk && p.fill(ps) == len(ps) {
		if len(ps) == 0 {
			return nil
		}
		return [][]Posting{ps}
	}
	middle := len(ps) / 2
	return append(p.even(ps[:middle]), p.even(ps[middle:])...)
}

// encode returns the chunk of ps, which full or even have found to fit.
func (p *packer) encode(ps []Posting, h *head) []byte {
	p.fill(ps)
	return p.enc.finish(h)
}
