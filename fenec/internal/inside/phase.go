package inside

import (
	"context"
	"time"
)

// Watcher is told of a part of a statement's time that is over.
type Watcher func(name string, began, ended time.Time)

type watcherKey struct{}

// Watched returns a context under which statements tell w of the times they wait:
// "lock.wait" for other writers, and "durability" for the disk.
func Watched(ctx context.Context, w Watcher) context.Context {
	return context.WithValue(ctx, watcherKey{}, w)
}

// Phase begins a part of a statement's time, which the function it returns ends.
func Phase(ctx context.Context, name string) (end func()) {
	w, ok := ctx.Value(watcherKey{}).(Watcher)
	if !ok {
		return func() {}
	}
	began := time.Now()
	return func() { w(name, began, time.Now()) }
}
