package serve

import (
	"errors"
	"time"
)

// slowWrite is how long a client may take to accept a portion of a long answer before the
// request gives back what it holds for others.
const slowWrite = 100 * time.Millisecond

// errEnded cuts an answer short that is sent while its rows are found, as the use of the
// database has to end.
var errEnded = errors.New("the use of the database has to end")

// sending writes portions of an answer while the request holds the database. A client that
// does not read stalls the writing, and no more than that: who waits for a write holds no
// place, and leaves as soon as the use of the database has to end, while the write goes on.
type sending struct {
	c    *call
	left <-chan outcome // of a write that was left to itself; nil if none was
}

// outcome is what a write came to.
type outcome struct {
	err      error
	panicked any
}

// write runs fn, which writes. After an error nothing more is to be written.
func (s *sending) write(fn func() error) error {
	c := s.c
	done := make(chan outcome, 1)
	go func() { done <- attempted(fn) }()
	began, goOn := time.Now(), (func() *Answer)(nil)
	slow := time.NewTimer(slowWrite)
	defer slow.Stop()
	for {
		select {
		case o := <-done:
			if o.panicked != nil {
				panic(o.panicked)
			}
			if goOn == nil {
				return o.err
			}
			c.waitedSince(began, "fenec.wait_for_client")
			if refusal := goOn(); refusal != nil && o.err == nil {
				return refusedError{*refusal}
			}
			return o.err
		case <-slow.C:
			goOn = c.waits()
		case <-c.use.Ended:
			s.left = done
			return errEnded
		}
	}
}

// attempted runs fn, whose panic is for whoever waits for it.
func attempted(fn func() error) (o outcome) {
	defer func() { o.panicked = recover() }()
	o.err = fn()
	return o
}
