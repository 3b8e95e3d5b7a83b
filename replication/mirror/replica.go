package mirror

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// Copy is the database that a follower keeps like its primary's. A follower uses it for
// a moment at a time.
type Copy interface {
	// Path is where the database is. Images are gathered beside it.
	Path() string

	// Use gives the open database until release is called. It follows.
	Use(ctx context.Context) (db *fenec.DB, release func(), err error)

	// Replace closes the database, calls a.Replace, and opens what is there then. It calls
	// a.Close in any case, and before it opens. The follower holds nothing meanwhile; others must be made to let go. ctx bounds the
	// wait for them, and nothing after it: what has been closed is opened again.
	//
	// With keep, the database has writes that nobody else may have. It returns where what was
	// replaced is kept, "" for nowhere. What is to be kept and cannot be is not replaced.
	Replace(ctx context.Context, a *fenec.Arrival, keep bool) (kept string, err error)
}

// ReplicaOptions say what a copy follows.
type ReplicaOptions struct {
	// Primary is the base URL of the primary's database: http, a host, a port and the path
	// of one that is a tenant, as http://10.0.0.7:8080/t/acme.
	Primary string

	Token Secret // for replication

	// Instance names this copy among all, as SourceOptions.Instance of the source of the
	// same database does. Without it the primary cannot tell that the database would follow
	// itself, and counts no copy for its acknowledgements.
	Instance string

	// Transport carries the requests. Default: one of its own. See NewTransport.
	Transport http.RoundTripper

	// ErrorLog is told what happens. Default: the standard logger.
	ErrorLog *log.Logger
}

// Replica is a follower: it makes a copy what its primary is, and keeps it so until Stop.
// Its methods are safe for concurrent use.
type Replica struct {
	copy    Copy
	primary upstream
	opts    ReplicaOptions
	began   time.Time
	own     *http.Transport // nil if it was given one

	ctx    context.Context // of its goroutine
	cancel context.CancelFunc
	done   chan struct{}

	follower replication.Follower // of the goroutine alone
	said     string               // the error logged last; of the goroutine alone

	mu     sync.Mutex // guards the fields below
	state  ReplicaStatus
	at     uint64    // last write of the copy
	heard  time.Time // when something came last; zero for never
	level  time.Time // when it had all that was on the primary's disk; zero for never
	reason error     // why it ended for good
	refuse error     // why the disk here did not take what came last; nil if it did
}

// StartReplica starts a follower. The copy must be one that follows: see
// fenec.DB.Follow.
func StartReplica(copy Copy, opts ReplicaOptions) (*Replica, error) {
	u, err := base(opts.Primary)
	if err != nil {
		return nil, err
	}
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.Default()
	}
	r := &Replica{copy: copy, opts: opts, began: time.Now(), done: make(chan struct{})}
	if opts.Transport == nil {
		r.own = NewTransport()
		opts.Transport = r.own
	}
	r.primary = upstream{strings.TrimRight(u.String(), "/"), opts.Token, opts.Instance, opts.Transport}
	r.state.Primary = r.primary.base
	r.ctx, r.cancel = context.WithCancel(context.Background())
	go r.run()
	return r, nil
}

// Stop cuts the stream and returns when nothing is done to the copy any more.
func (r *Replica) Stop() {
	r.cancel()
	<-r.done
}

// Done is closed once the follower has ended, by Stop or for good.
func (r *Replica) Done() <-chan struct{} { return r.done }

// Err tells why the follower ended without Stop: the copy's disk failed
// (fenec.ErrFailed), or it does not follow any more (fenec.ErrNotReplica).
func (r *Replica) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason
}

// Refused tells why the disk here did not take what came last, nil if it did.
func (r *Replica) Refused() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refuse
}

// Primary returns the base URL of the primary's database.
func (r *Replica) Primary() string { return r.primary.base }

// Status tells how the follower stands.
func (r *Replica) Status() ReplicaStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	s.LastContactMs, s.LagMs = sinceMs(r.heard), sinceMs(r.level)
	if s.PrimaryDurable > r.at {
		s.Behind = s.PrimaryDurable - r.at
	}
	return s
}

// sinceMs returns the milliseconds since t, -1 if that is zero.
func sinceMs(t time.Time) int64 {
	if t.IsZero() {
		return -1
	}
	return time.Since(t).Milliseconds()
}

// run follows until it is stopped or cannot go on.
func (r *Replica) run() {
	defer close(r.done)
	defer r.cancel()
	if r.own != nil {
		defer r.own.CloseIdleConnections()
	}
	for {
		err := r.follow(r.ctx)
		pause := r.lost(err)
		if r.ctx.Err() != nil || r.ended(err) || !rest(r.ctx, pause) {
			return
		}
	}
}

// rest waits, and reports whether it was not interrupted.
func rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// lost notes that a stream ended, and returns how long to wait for the next.
func (r *Replica) lost(err error) time.Duration {
	r.mu.Lock()
	r.state.Connected = false
	r.state.Reconnects++
	r.state.Error = err.Error()
	if isAny(err, errUnstored, fenec.ErrFailed) {
		r.refuse = err
	}
	r.mu.Unlock()
	if said := err.Error(); said != r.said && r.ctx.Err() == nil {
		r.said = said
		r.log("%v", err)
	}
	return r.follower.Lost(outcome(err))
}

// outcome tells how a stream ended.
func outcome(err error) replication.Outcome {
	var ended endedError
	switch {
	case errors.As(err, &ended):
		return replication.Ended
	case errors.Is(err, replication.ErrUnfit):
		return replication.Unfit
	case errors.Is(err, errUnstored):
		return replication.Unstored
	}
	return replication.Broken
}

// ended reports whether an error is one that following ends with, for good.
func (r *Replica) ended(err error) bool {
	if !errors.Is(err, fenec.ErrFailed) && !errors.Is(err, fenec.ErrNotReplica) {
		return false
	}
	r.log("following has ended: %v", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = err
	return true
}

// note changes the status.
func (r *Replica) note(change func(s *ReplicaStatus)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
}

// contact notes that something came, and that the copy stands at the write at: with all
// that the primary had on its disk at the time of, if that is not zero.
func (r *Replica) contact(durable, at uint64, of time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = time.Now()
	if of.After(r.heard) {
		of = r.heard
	}
	if at >= durable && of.After(r.level) {
		r.level, r.refuse = of, nil
	}
	r.state.PrimaryDurable = max(durable, at)
	r.at = at
}

func (r *Replica) log(format string, args ...any) {
	r.opts.ErrorLog.Printf("replication: %s follows %s: %s", r.copy.Path(), r.primary.base, fmt.Sprintf(format, args...))
}
