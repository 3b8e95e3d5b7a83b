package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// crowd is subscribers that wait, each in a goroutine of its own.
type crowd struct {
	stop    context.CancelFunc
	waiting sync.WaitGroup
	heard   chan struct{} // holds one for each event
	failed  atomic.Pointer[error]
}

// gather makes n subscribers and returns when all have been given their seed.
func gather(ctx context.Context, db *fenec.DB, n int) (*crowd, error) {
	ctx, stop := context.WithCancel(ctx)
	c := &crowd{stop: stop, heard: make(chan struct{}, n)}
	for range n {
		sub, err := db.Subscribe(ctx, fenec.Shape{
			Collection: "followed", Where: "state = $1", Args: []any{"open"}, Select: []string{"n"},
		}, fenec.NoCursor)
		if err != nil {
			return nil, errors.Join(err, c.leave())
		}
		c.waiting.Go(func() {
			defer sub.Close()
			c.listen(ctx, sub)
		})
	}
	return c, c.all(ctx)
}

// listen hears events until ctx ends.
func (c *crowd) listen(ctx context.Context, sub *fenec.Subscription) {
	for {
		_, err := sub.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.failed.Store(&err)
			c.stop()
			return
		}
		c.heard <- struct{}{}
	}
}

// all waits until everybody has heard an event.
func (c *crowd) all(ctx context.Context) error {
	for range cap(c.heard) {
		select {
		case <-c.heard:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// hear writes to what they follow and returns how long it took until all had
// heard of it.
func (c *crowd) hear(ctx context.Context, db *fenec.DB) (time.Duration, error) {
	start := time.Now()
	if _, err := db.Exec(ctx, `set followed {n: n + 1} where id = 1`); err != nil {
		return 0, err
	}
	err := c.all(ctx)
	return time.Since(start), err
}

// leave ends everybody's waiting and returns what went wrong for one of them.
func (c *crowd) leave() error {
	c.stop()
	c.waiting.Wait()
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// held returns the bytes of live objects and of stacks.
func held() int64 {
	for range 4 {
		runtime.GC() // which halves the stacks that need not be as large
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
