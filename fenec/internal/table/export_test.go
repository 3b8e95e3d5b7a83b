package table

import "github.com/fenec-go/fenecdb/fenec/internal/store"

// Block returns the block that t is, for tests that write past it.
func (t *Tx) Block() *store.Block { return t.block }
