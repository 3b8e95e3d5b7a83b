package table

import (
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Block returns the block of t, to change keys past t.
func (t *Tx) Block() *store.Block { return t.block }

// Each calls fn with the postings of each term, by ascending prefix.
func (p *Postings) Each(fn func(prefix []byte, list []posting.Posting)) {
	for _, t := range p.terms {
		fn(t.prefix, t.postings)
	}
}

// RowHash is rowHash.
func RowHash(id uint64, checksum uint32, size int) uint64 { return rowHash(id, checksum, size) }

// ResumRows is resumRows.
const ResumRows = resumRows
