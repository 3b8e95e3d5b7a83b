package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/internal/problem"
)

const (
	longestWait = 30 * time.Second
	defaultWait = 5 * time.Second // of Fenec-After alone
)

// headerNumber returns the whole number that a header holds, whose name is in its
// canonical form. ok is false if there is no such header.
func (c *call) headerNumber(name string) (n uint64, ok bool, refusal *Answer) {
	values := c.r.Header[name]
	if len(values) == 0 || values[0] == "" {
		return 0, false, nil
	}
	text := values[0]
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		a := Fail(http.StatusBadRequest, name+" is not a whole number: "+strconv.Quote(text))
		return 0, false, &a
	}
	return n, true, nil
}

// waitForSeq holds the request until the database is at the sequence that
// Fenec-After names.
func (c *call) waitForSeq() *Answer {
	after, asked, refusal := c.headerNumber("Fenec-After")
	if !asked {
		return refusal
	}
	ms, given, refusal := c.headerNumber("Fenec-Wait")
	if refusal != nil {
		return refusal
	}
	wait := defaultWait
	if given {
		wait = atMost(ms)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), wait)
	defer cancel()
	defer context.AfterFunc(c.server.closing, cancel)()
	for {
		began, goOn := time.Now(), c.waits()
		err := c.reach(ctx, after)
		c.waitedSince(began, "fenec.wait_for_write")
		if err != nil && ctx.Err() == nil && c.mustEnd() {
			// Most likely what takes the database's place is there to be waited for.
			c.letGo()
			if refusal := c.open(); refusal != nil {
				return refusal
			}
			continue
		}
		if refusal := goOn(); refusal != nil || err == nil {
			return refusal
		}
		a := Error(err)
		if ctx.Err() != nil && c.r.Context().Err() == nil {
			seq := c.db.Seq()
			a = failWith(http.StatusGatewayTimeout, fmt.Errorf("the database is at %d, before %d", seq, after), "seq", seq)
		}
		return &a
	}
}

// reach waits for a sequence, for as long as the use of the database may last.
func (c *call) reach(ctx context.Context, seq uint64) error {
	if c.db.Seq() < seq {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer c.endWith(cancel)()
	}
	return c.db.WaitSeq(ctx, seq)
}

// waitedSince notes that the request has been waiting, which is none of its
// statement's time.
func (c *call) waitedSince(began time.Time, what string) {
	now := time.Now()
	c.waited += now.Sub(began)
	c.span.Child(what, began, now)
}

// atMost returns a wait in milliseconds as far as it may go.
func atMost(ms uint64) time.Duration {
	return time.Duration(min(ms, uint64(longestWait/time.Millisecond))) * time.Millisecond
}

// holdFor returns how long the request may be held while it would write nothing.
func (c *call) holdFor() (time.Duration, *Answer) {
	if c.r.Method != http.MethodPost || !c.at("query") && !c.at("batch") || c.r.Header.Get("Fenec-After") != "" {
		return 0, nil
	}
	ms, _, refusal := c.headerNumber("Fenec-Wait")
	return atMost(ms), refusal
}

// hold runs the request, and again whenever it may find something, until it
// writes something or the time is over.
func (c *call) hold(wait time.Duration) Answer {
	ctx, cancel := context.WithTimeout(c.r.Context(), wait)
	defer cancel()
	defer context.AfterFunc(c.server.closing, cancel)()
	defer c.endWith(cancel)()
	c.holding = ctx
	defer c.passOn()
	for {
		since := c.db.Seq()
		a := c.runOnce()
		if !a.nothing || c.claim == nil {
			return a
		}
		goOn := c.waits()
		woken := c.wake(ctx, since)
		if refusal := goOn(); refusal != nil {
			return *refusal
		}
		switch {
		case woken:
		case c.mustEnd():
			return FailAs(problem.TenantFrozen, c.use.Why) // it has not run
		default:
			return a
		}
		if refusal := c.authenticate(); refusal != nil {
			return *refusal
		}
	}
}

// takeTurn waits until the request is the first of those that would pick the same
// rows. If that does not come to pass it goes ahead, and most likely finds nothing.
func (c *call) takeTurn() *Answer {
	if c.pass != nil {
		return nil
	}
	began, goOn := time.Now(), c.waits()
	key := turnKey{c.db, Bearer(c.r.Header), string(c.body)}
	if pass, err := c.server.turns.wait(c.holding, key); err == nil {
		c.pass = pass
	}
	c.waitedSince(began, "fenec.wait_for_rows")
	return goOn()
}

// passOn lets the next of those requests go ahead.
func (c *call) passOn() {
	if c.pass != nil {
		c.pass()
	}
}

// wake waits until a run after the sequence since may find something. It returns
// false if the time is over before.
func (c *call) wake(ctx context.Context, since uint64) bool {
	until, err := c.claim.moment(ctx, c)
	if err != nil {
		return false
	}
	waiting := ctx
	if !until.IsZero() {
		var cancel context.CancelFunc
		waiting, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	began := time.Now()
	err = c.db.WaitChange(waiting, since, c.claim.collections...)
	c.waitedSince(began, "fenec.wait_for_rows")
	return ctx.Err() == nil && (err == nil || errors.Is(err, context.DeadlineExceeded))
}
