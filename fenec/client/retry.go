package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Pauses before a request is sent again.
const (
	firstPause   = 50 * time.Millisecond // doubling from there
	longestPause = 2 * time.Second
	longestAsked = 30 * time.Second // that a server may ask for
)

// retry calls try until it succeeds, fails in a way that stays, or has failed too
// often.
func (db *DB) retry(ctx context.Context, rq *request, try func() error) error {
	for n := 0; ; n++ {
		err := try()
		if err == nil || !rq.repeatable() || n >= db.opts.Retries || !passes(err) {
			return err
		}
		if over := db.pause(ctx, max(pauseBefore(n), asked(err))); over != nil {
			return fmt.Errorf("%w, after: %w", over, err)
		}
	}
}

// pause waits for d, until ctx ends or the DB is closed.
func (db *DB) pause(ctx context.Context, d time.Duration) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(db.closing, cancel)()
	err := db.opts.Sleep(waiting, d)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case db.closed() != nil:
		return db.closed()
	}
	return err
}

// pauseBefore returns how long to wait before the try that follows n others: half
// of it is chance, so that clients that failed together do not come back so.
func pauseBefore(n int) time.Duration {
	d := min(firstPause<<min(n, 16), longestPause)
	return d/2 + rand.N(d/2)
}

// passes reports whether a request that failed so may succeed later.
func passes(err error) bool {
	var e *Error
	return errors.Is(err, ErrNoAnswer) || errors.As(err, &e) && e.passing()
}

// asked returns how long the server asks to wait.
func asked(err error) time.Duration {
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	return min(e.pause, longestAsked)
}
