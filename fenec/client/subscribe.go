package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
)

// Pauses before a broken subscription is opened again.
const (
	firstReopen   = 250 * time.Millisecond // doubling from there
	longestReopen = 15 * time.Second
)

// Subscribe begins to follow a shape as fenec.DB.Subscribe does. When its connection
// breaks the subscription is opened again, for as long as it takes, and goes on from
// the last event that Next has returned. What the server refuses for good, as a token
// that has expired, ends it.
func (db *DB) Subscribe(ctx context.Context, shape fenec.Shape, since uint64) (*fenec.Subscription, error) {
	path, err := target(shape)
	if err != nil {
		return nil, err
	}
	f := &follower{db: db, path: path, since: since, events: make(chan fenec.Event), over: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(db.closing)
	first, err := f.openFirst(ctx)
	if err != nil {
		f.cancel()
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.closed(); err != nil {
		f.cancel()
		first.close()
		return nil, err
	}
	db.running.Go(func() { f.run(first) })
	return inside.Subscription(f.next, f.end).(*fenec.Subscription), nil
}

// follower is an open subscription. A goroutine of its own, run, reads one event
// ahead of Next.
type follower struct {
	db     *DB
	path   string // without since
	ctx    context.Context
	cancel context.CancelFunc
	ending sync.Once

	events chan fenec.Event
	over   chan struct{} // closed when run has ended
	err    error         // why; set before

	since uint64 // run's: of the last event that was given
}

// next is Next of the subscription.
func (f *follower) next(ctx context.Context) (fenec.Event, error) {
	if err := ctx.Err(); err != nil {
		return fenec.Event{}, err
	}
	select {
	case ev := <-f.events:
		return ev, nil
	case <-f.over:
		return fenec.Event{}, f.err
	case <-ctx.Done():
		return fenec.Event{}, ctx.Err()
	}
}

// end is Close of the subscription.
func (f *follower) end() error {
	f.ending.Do(f.cancel)
	<-f.over
	return nil
}

// run gives the events of one connection after the other.
func (f *follower) run(c *connection) {
	defer close(f.over)
	defer f.cancel()
	for tries := 0; ; {
		gave, err := f.read(c)
		c.close()
		if gave {
			tries = 0
		}
		for c = nil; c == nil; tries++ {
			if f.ctx.Err() != nil {
				f.err = fmt.Errorf("subscription: %w", fenec.ErrClosed)
				return
			}
			if final(err) {
				f.err = err
				return
			}
			// An error of the pause is that of f.ctx, which is looked at next.
			if f.db.pause(f.ctx, max(reopenAfter(tries), asked(err))) == nil {
				c, err = f.open(f.ctx)
			}
		}
	}
}

// reopenAfter returns how long to wait before a subscription is opened again.
func reopenAfter(tries int) time.Duration { return min(firstReopen<<min(tries, 16), longestReopen) }

// final reports whether a subscription that failed so would fail again.
func final(err error) bool {
	var e *Error
	switch {
	case errors.Is(err, ErrNoAnswer):
		return false
	case errors.As(err, &e):
		return e.Status < http.StatusInternalServerError && !e.passing()
	}
	return true
}

// read gives events until the connection breaks. gave says whether one was given.
func (f *follower) read(c *connection) (gave bool, err error) {
	events := newEventReader(c)
	for {
		name, data, err := events.next()
		if err != nil {
			return gave, fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		ev, err := parseEvent(name, data)
		if err != nil {
			return gave, err
		}
		select {
		case f.events <- ev:
			f.since, gave = ev.Seq, true
		case <-f.ctx.Done():
			return gave, f.ctx.Err()
		}
	}
}

// openFirst opens the subscription as a read is sent: what is wrong with it shows
// here. ctx bounds no more than that.
func (f *follower) openFirst(ctx context.Context) (c *connection, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, f.cancel)
	err = f.db.retry(ctx, &request{reads: true}, func() (err error) {
		c, err = f.open(f.ctx)
		return err
	})
	if !stop() && ctx.Err() != nil {
		if c != nil {
			c.close()
		}
		return nil, ctx.Err()
	}
	if err != nil && f.db.closed() != nil {
		return nil, f.db.closed()
	}
	return c, err
}

// open opens the subscription from where it stands.
func (f *follower) open(ctx context.Context) (*connection, error) {
	rq := &request{method: http.MethodGet, path: f.path, reads: true}
	if f.since != fenec.NoCursor {
		rq.path += "&since=" + strconv.FormatUint(f.since, 10)
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &connection{silence: f.db.opts.Silence, cancel: cancel}
	// The head, too, may never come.
	c.arm()
	res, err := f.db.open(ctx, f.db.streams, rq)
	c.disarm()
	if err == nil && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		res.Body.Close()
		err = misread(errors.New("no stream of events"))
	}
	if err != nil {
		if f.ctx.Err() == nil && ctx.Err() != nil {
			err = fmt.Errorf("%w: silence", ErrNoAnswer)
		}
		cancel()
		return nil, err
	}
	c.body = res.Body
	return c, nil
}

// connection is a connection of a subscription, which breaks when it is silent for
// too long while it is read.
type connection struct {
	silence time.Duration
	cancel  context.CancelFunc
	timer   *time.Timer
	body    io.ReadCloser
}

// Read reads the body.
func (c *connection) Read(b []byte) (int, error) {
	c.arm()
	defer c.disarm()
	return c.body.Read(b)
}

func (c *connection) arm() {
	if c.timer == nil {
		c.timer = time.AfterFunc(c.silence, c.cancel)
		return
	}
	c.timer.Reset(c.silence)
}

func (c *connection) disarm() { c.timer.Stop() }

func (c *connection) close() {
	c.cancel()
	c.body.Close()
}
