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
	h := newHandle()
	h.slot, h.live = &slot{id: ID{"default"}}, &instance{db: db}
	h.live.begin(context.Background())
	h.surface = surface{h.handle, db}
	return h
}
