package wal

import (
	"context"
	"fmt"
	"runtime"
)

// Sync returns once every block that was complete when it was called is on
// disk.
func (l *Log) Sync(ctx context.Context) error {
	return l.SyncTo(ctx, l.end.Load())
}

// SyncTo returns once everything up to offset end is on disk. Goroutines share
// flushes: one of those that wait runs a flush for all that was written before
// it started; what is written meanwhile shares the next one.
//
// A flush that fails is never tried again: this and every later SyncTo past
// Durable, and every later write, return an error matching ErrFailed. After a
// failed append the blocks before it can still be brought to disk. When ctx
// ends, SyncTo stops waiting and returns its error, unless it runs the flush
// itself.
func (l *Log) SyncTo(ctx context.Context, end int64) error {
	if l.durable.Load() >= end {
		return nil
	}
	if last := l.end.Load(); end > last {
		return fmt.Errorf("%s: sync to %d of a log that ends at %d", l.Path(), end, last)
	}
	return l.await(ctx, goal{end: end})
}

// barrier returns once everything written before it was called is on disk,
// headers and moved ends included.
func (l *Log) barrier() error {
	return l.await(context.Background(), goal{change: l.changes.Add(1)})
}

// goal is what somebody waits to see on disk.
type goal struct {
	end    int64
	change uint64
}

func (l *Log) reached(g goal) bool {
	return l.durable.Load() >= g.end && l.flushed.Load() >= g.change
}

// await runs flushes, or waits for those of others, until g is reached.
func (l *Log) await(ctx context.Context, g goal) error {
	for !l.reached(g) {
		t, err := l.join(g)
		if err != nil {
			return err
		}
		if t.lead {
			l.flush(t)
			continue
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// turn is somebody's part in a flush.
type turn struct {
	done    chan struct{} // closed when the flush ends
	lead    bool          // run it, instead of waiting for it
	company bool          // others waited for the flush before
}

// join takes a turn in the flush under way, or in a new one if there is none.
func (l *Log) join(g goal) (turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil {
		l.waiting++
		return turn{done: l.running}, nil
	}
	switch {
	case l.reached(g):
		return turn{done: closed}, nil
	case l.flushErr != nil:
		return turn{}, l.flushErr
	case l.closed.Load():
		return turn{}, ErrClosed
	}
	t := turn{done: make(chan struct{}), lead: true, company: l.waiting > 0}
	l.running, l.waiting = t.done, 0
	return t, nil
}

// closed is the channel of a flush that has ended.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// flush brings to disk what has been written so far.
func (l *Log) flush(t turn) {
	if t.company {
		// Those whom the last flush let go are about to write again.
		// Letting them go first makes this flush do for nearly all of them
		// instead of for half.
		runtime.Gosched()
	}
	change := l.changes.Load()
	end, last := l.completed()
	err := l.syncFile()

	l.mu.Lock()
	if err == nil {
		l.durableSeq.Store(last)
		l.durable.Store(end)
		l.flushed.Store(change)
	} else {
		l.flushErr = l.refuse(err)
	}
	l.running = nil
	l.mu.Unlock()
	close(t.done)
	if err == nil && l.told != nil {
		l.told()
	}
}

// syncFile is called by one goroutine at a time, as flush is.
func (l *Log) syncFile() error {
	if err := l.file.Sync(); err != nil {
		return err
	}
	if l.nameless {
		if err := l.fs.SyncDir(l.dir()); err != nil {
			return err
		}
		l.nameless = false
	}
	return nil
}
