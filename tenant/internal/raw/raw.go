// Package raw lets the packages below tenant have more of a handle than its user has:
// the database itself, to give it a surface, and word of what is done through it. Everybody
// else goes through a handle, which stops working when it is released. Package tenant
// sets the functions.
package raw

import (
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// DB returns the database of a *tenant.Handle, or nil once that is released. It
// must not be used after the release, and not be closed.
var DB func(handle any) *fenec.DB

// Watch has w told of everything that is done through a *tenant.Handle which nobody
// uses yet.
var Watch func(handle any, w Watcher)

// Failed tells the manager of an error that the database of a *tenant.Handle has given: if
// that is fenec.ErrFailed, it sees to it that the tenant can be written to again.
var Failed func(handle any, err error)

// Watcher is told what is done through a handle. Its methods are called from any
// goroutine.
type Watcher interface {
	// Subscribes is asked before a subscription begins. Its error is the answer; end is
	// called when the subscription is closed.
	Subscribes() (end func(), err error)

	// Read and Wrote are told the rows that a call has read or written.
	Read(rows int)
	Wrote(rows int)

	// Waited is told how long the handle's user did nothing but wait.
	Waited(time.Duration)
}
