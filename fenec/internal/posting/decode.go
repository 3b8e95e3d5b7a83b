package posting

// appendPostings appends all postings of a chunk to dst. Unlike reading in place
// it checks every one of them.
func appendPostings(dst []Posting, kind Kind, seed uint32, key, stored []byte, h *head) ([]Posting, error) {
	var c chunk
	if err := c.open(kind, seed, key, stored, h); err != nil {
		return dst, err
	}
	var b block
	next := c.first // the least id that may follow
	for i := range c.blocks {
		if !b.open(&c, i) {
			return dst, corrupt(key, "block %d", i)
		}
		for j := range b.n {
			p := b.posting(kind, j)
			if p.ID < next || p.ID > b.last || i == 0 && j == 0 && p.ID != c.first {
				return dst, corrupt(key, "posting %d of block %d", j, i)
			}
			next = p.ID + 1
			dst = append(dst, p)
		}
	}
	return dst, nil
}
