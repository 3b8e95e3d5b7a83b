package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// isStream reports whether the request opens a subscription.
func (c *call) isStream() bool {
	return c.r.Method == http.MethodGet && len(c.path) == 2 && c.path[1] == "changes"
}

// stream answers GET /<name>/changes: it follows what a filter picks until the
// client goes away.
func (c *call) stream() {
	if refusal := c.follow(); refusal != nil {
		c.spent(refusal)
		c.send(*refusal)
	}
}

// follow opens the subscription and feeds the client. What it returns came
// before the stream began.
func (c *call) follow() *Answer {
	if refusal := c.authenticate(); refusal != nil {
		return refusal
	}
	s := c.server
	defer s.streams.Add(-1)
	if most := s.opts.MaxStreams; s.streams.Add(1) > int64(most) && most >= 0 {
		a := Fail(http.StatusServiceUnavailable, "too many subscriptions are open")
		return &a
	}
	if refusal := c.open(); refusal != nil {
		return refusal
	}
	defer c.letGo()
	shape, since, refusal := c.shape()
	if refusal != nil {
		return refusal
	}
	if streams := c.use.Streams; streams != nil {
		end, err := streams()
		if err != nil {
			return c.refuse(err)
		}
		defer end()
	}
	sub, err := c.view.Subscribe(c.r.Context(), shape, since)
	if err != nil {
		a := Error(err)
		return &a
	}
	defer sub.Close()
	defer context.AfterFunc(s.closing, func() { sub.Close() })()
	defer c.endWith(func() { sub.Close() })()
	c.spent(&Answer{})
	c.waits() // for as long as it lasts
	c.feedEvents(sub)
	return nil
}

// endWith calls end when the use of the database has to end, until stop is called.
func (c *call) endWith(end func()) (stop func()) {
	ended := c.use.Ended
	if ended == nil {
		return func() {}
	}
	over := make(chan struct{})
	go func() {
		select {
		case <-ended:
			end()
		case <-over:
		}
	}()
	return func() { close(over) }
}

// mustEnd reports whether the use of the database has to end.
func (c *call) mustEnd() bool {
	select {
	case <-c.use.Ended:
		return c.use.Ended != nil
	default:
		return false
	}
}

// stall is how long a client may take to accept an event, or a portion of an answer whose
// rows hold the database.
const stall = 30 * time.Second

// feedEvents sends events until the client, its token or the collection goes.
func (c *call) feedEvents(sub *fenec.Subscription) {
	out := c.newEventWriter()
	ctx, cancel := c.untilExpiry()
	defer cancel()
	for {
		ev, err := c.next(ctx, sub)
		switch {
		case err == nil:
			err = c.sendEvent(out, &ev)
		case errors.Is(err, errSilence):
			err = out.comment("keepalive")
		case c.mustEnd():
			out.failure(c.use.Why, http.StatusServiceUnavailable)
			return
		case c.r.Context().Err() != nil || errors.Is(err, fenec.ErrClosed):
			return
		case errors.Is(err, context.DeadlineExceeded):
			out.failure("the token has expired", http.StatusUnauthorized)
			return
		default:
			c.log(err)
			out.failure(told(err), 0)
			return
		}
		if err != nil {
			return // the client went away, or does not read
		}
	}
}

// sendEvent sends an event, and tells the use of it.
func (c *call) sendEvent(out *eventWriter, ev *fenec.Event) error {
	n, err := out.event(ev)
	if err == nil && c.use.Followed != nil {
		c.use.Followed(ev.Rows.Len(), int64(n))
	}
	return err
}

var errSilence = errors.New("nothing happened")

// next waits for the next event, at most for as long as a stream may be silent.
func (c *call) next(ctx context.Context, sub *fenec.Subscription) (fenec.Event, error) {
	waiting, cancel := context.WithTimeout(ctx, c.server.opts.KeepAlive)
	defer cancel()
	ev, err := sub.Next(waiting)
	if err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return ev, errSilence
	}
	return ev, err
}

// untilExpiry returns the request's context, which ends when its token expires.
func (c *call) untilExpiry() (context.Context, context.CancelFunc) {
	if token := c.who.token; token != nil {
		if end, ok := token.Claims.Expires(); ok {
			return context.WithDeadline(c.r.Context(), end)
		}
	}
	return context.WithCancel(c.r.Context())
}
