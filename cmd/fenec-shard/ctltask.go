package main

import (
	"context"
	"errors"
	"net/http"
)

// task is something that the router does by itself once it is told to.
type task interface {
	// see takes in the router's latest answer on it, and reports whether more is to
	// be waited for.
	see(answer []byte) (over bool, err error)
	// progress tells in a line how far it has come.
	progress() string
	// result tells how it ended. The error is for one that has not ended well.
	result(t *table) error
}

// finish looks at a task, which path answers for, until it is over, and meanwhile shows
// how far it is.
func (c *console) finish(ctx context.Context, path string, t task) error {
	answer, err := c.await(ctx, path, t)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("nobody waits any more; the router goes on")
	case err != nil:
		return err
	}
	var wrong error
	return errors.Join(c.show(answer, func(to *table) { wrong = t.result(to) }), wrong)
}

// await returns the last answer on a task.
func (c *console) await(ctx context.Context, path string, t task) (answer []byte, err error) {
	defer c.progress.end()
	for {
		if answer, err = c.shard.ask(ctx, http.MethodGet, path, nil); err != nil {
			return nil, err
		}
		if over, err := t.see(answer); over || err != nil {
			return answer, err
		}
		c.progress.show("%s", t.progress())
		if err := c.pause(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}
