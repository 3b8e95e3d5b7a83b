package client

import "context"

type (
	afterKey struct{}
	keyKey   struct{}
)

// After returns a context whose reads wait until the server that they come to is
// at a sequence. One that does not get there in time answers with the status 504.
func After(ctx context.Context, seq uint64) context.Context {
	return context.WithValue(ctx, afterKey{}, seq)
}

// after returns the sequence that a read under ctx is to wait for; 0 for none.
func (db *DB) after(ctx context.Context) uint64 {
	seq, _ := ctx.Value(afterKey{}).(uint64)
	if db.opts.ReadOwnWrites {
		seq = max(seq, db.Seq())
	}
	return seq
}

// WithKey returns a context whose next write has that Idempotency-Key, of 1 to 255
// bytes, in place of one of its own, whatever Options.NoKeys says. A program that
// keeps the key can send the same write again after it was started anew: the server
// answers it as the first time, for as long as it keeps answers. Another write under
// the same key is an Error with the status 422.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}
