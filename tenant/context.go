package tenant

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec"
)

type handleKey struct{}

// NewContext returns a context that carries the handle of a request.
func NewContext(ctx context.Context, h *Handle) context.Context {
	return context.WithValue(ctx, handleKey{}, h)
}

// FromContext returns the handle that ctx carries, if any.
func FromContext(ctx context.Context) (*Handle, bool) {
	h, ok := ctx.Value(handleKey{}).(*Handle)
	return h, ok
}

// Single returns a handle to the one database of an application without tenants, as
// tenant "default". Releasing it leaves the database open.
func Single(db *fenec.DB) *Handle {
	h := &Handle{slot: &slot{id: ID{"default"}}, live: &instance{db: db, life: context.Background()}}
	h.surface = surface{h, db}
	return h
}
