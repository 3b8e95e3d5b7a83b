package fenec

import "context"

// SetFence makes fn decide, from now on, whether anything may be written: it is
// asked under the write lock before each block, those of a Load and of a sweep
// included, and again as the block lands, and before a compact statement; its error, if
// it returns one, is the statement's, of which nothing is kept. What was
// written is folded into the file whatever it says. SetFence returns once every
// block that had begun before has ended, or when ctx does; fn is in place in any
// case. fn must return soon and must not use the database. nil takes the fence
// away.
func (db *DB) SetFence(ctx context.Context, fn func() error) error {
	if fn == nil {
		db.fence.Store(nil)
		return nil
	}
	db.fence.Store(&fn)
	return public(db.store.WaitWriter(ctx))
}

// fenced returns why nothing may be written, and else the fence that was asked.
func (db *DB) fenced() (*func() error, error) {
	if db.History().Following {
		return nil, ErrReplica
	}
	fence := db.fence.Load()
	if fence == nil {
		return nil, nil
	}
	return fence, (*fence)()
}
