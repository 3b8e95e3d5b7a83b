package serve

import (
	"context"
	"errors"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/problem"
)

// Source is where a request finds its database.
type Source struct {
	// Tenant is the name of whom the database belongs to. Where there is one, a JSON
	// Web Token has to name it. "" is nobody in particular.
	Tenant string

	// Open returns the database, or an answer that says why there is none.
	Open func(ctx context.Context) (*Use, *Answer)

	// Figures returns what /_metrics has beside those of the database. nil is nothing.
	Figures func() []Figure
}

// Use is a database in the use of one request. All but DB and Release may be nil.
type Use struct {
	DB      *fenec.DB
	Release func() // ends the use; it is called once

	// Ended is closed when the use has to end soon, as when its tenant is to be
	// deleted. A stream then ends with Why, and an answer that is sent while its rows are
	// found is cut short.
	Ended <-chan struct{}
	Why   string

	// Waits is called when the request begins to wait for something that others do, or for
	// its client, and the function it returns when it goes on.
	Waits func() (goOn func(context.Context) error)

	// Writes is asked before a write runs. Its error is the answer.
	Writes func() error

	// Streams is asked before a subscription begins. Its error is the answer, and the
	// function it returns is called when the subscription ends.
	Streams func() (end func(), err error)

	// Refuse answers errors that the surface does not know, or not well enough.
	Refuse func(error) (Answer, bool)

	// Warns returns a header to add to the answer of a write under the server's own
	// token, "" for none.
	Warns func() (name, value string)

	// Spent is told what the request cost, once it has its answer; of a subscription, once
	// that has begun.
	Spent func(Spent)

	// Followed is told what a subscription has been sent, event by event.
	Followed func(rows int, bytes int64)
}

// Spent is what a request cost.
type Spent struct {
	Took  time.Duration // without the time it was held
	Wrote bool
	Rows  int   // answered or written
	In    int64 // bytes of its body
	Out   int64 // bytes of its answer, before they are compressed
}

// always is the source of a database that is always open.
func always(db *fenec.DB) Source {
	use := &Use{DB: db, Release: func() {}}
	return Source{Open: func(context.Context) (*Use, *Answer) { return use, nil }}
}

// refuse returns the answer for an error of the request's use.
func (c *call) refuse(err error) *Answer {
	a := c.better(Error(err))
	return &a
}

// better returns the answer that the use gives in place of one that tells of an
// error.
func (c *call) better(a Answer) Answer {
	if a.cause == nil || c.use == nil || c.use.Refuse == nil {
		return a
	}
	b, ok := c.use.Refuse(a.cause)
	if !ok {
		return a
	}
	if be := new(fenec.BatchError); errors.As(a.cause, &be) && be.Completed > 0 {
		// What says that it has not run would have it sent again.
		return atStatement(FailAs(problem.OutcomeUnknown, be.Error()), be)
	}
	return b
}

// mayWrite returns why the request may not write.
func (c *call) mayWrite() *Answer {
	if c.server.opts.ReadOnly {
		a := readOnly()
		return &a
	}
	if c.use.Writes == nil {
		return nil
	}
	if err := c.use.Writes(); err != nil {
		return c.refuse(err)
	}
	return nil
}

// admit returns the idempotency key of a request that is to write, nil if it has none,
// or why it may not.
func (c *call) admit(compacts bool) (*keyOf, *Answer) {
	key, refusal := c.key(compacts)
	if refusal == nil {
		refusal = c.mayWrite()
	}
	return key, refusal
}

// waits gives back what the request holds while it waits for others. goOn takes it
// again.
func (c *call) waits() (goOn func() *Answer) {
	if c.use.Waits == nil {
		return func() *Answer { return nil }
	}
	resume := c.use.Waits()
	return func() *Answer {
		if err := resume(c.r.Context()); err != nil {
			return c.refuse(err)
		}
		return nil
	}
}

// spent tells the use what the request cost.
func (c *call) spent(a *Answer) {
	if c.use == nil {
		return
	}
	if warns := c.use.Warns; warns != nil && a.wrote && a.Status < 300 && c.who.everything() {
		if name, value := warns(); name != "" {
			c.w.Header().Set(name, value)
		}
	}
	if c.use.Spent != nil {
		c.use.Spent(Spent{time.Since(c.began) - c.waited, a.wrote, a.rows, int64(len(c.body)), int64(len(a.Body)) + a.sentBytes})
	}
}
