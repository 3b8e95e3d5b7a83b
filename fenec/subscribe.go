package fenec

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// NoCursor is the since of a subscriber that holds nothing yet.
const NoCursor uint64 = math.MaxUint64

// Subscription follows a Shape. Its events bring a subscriber that applies them
// to what a query of the shape answers. Nothing is kept for it while it is slow:
// it then sees a later state. Next is for one goroutine at a time, Close for any.
type Subscription struct {
	session *Session
	shape   *shape
	params  []value.Value
	topic   *topic
	scope   *scope // nil without a policy
	name    string

	cursor  uint64              // everything up to here has been told
	look    bool                // there may be something past it
	seed    bool                // the next event is a seed
	fresh   bool                // no event has been given yet
	def     *catalog.Collection // as of the last event
	schema  bool                // its change is to be told
	altered uint64              // changes of the schema up to here have been told

	served *servedEvents // all there is of one to the database of another process; else nil

	once  sync.Once
	ended chan struct{} // closed by Close
}

// Subscribe begins to follow a shape. since is the sequence of the last event
// that the subscriber has applied, of an earlier subscription to the same shape
// perhaps: the first event then tells what has changed since. If the kept changes
// do not go on from it, as from NoCursor, or writes up to it may have been lost
// with a machine's power, the first event is a seed. An unknown collection or
// field is ErrNotFound. A shape follows the documents of its own collection: what
// a get within its condition finds elsewhere is looked at when one of them
// changes, and a row that expires is told of when it is swept. Close the
// subscription when done.
func (db *DB) Subscribe(ctx context.Context, shape Shape, since uint64) (*Subscription, error) {
	return db.own.Subscribe(ctx, shape, since)
}

// Subscribe begins to follow a shape as DB.Subscribe does. A session with a policy
// hears of what the policy lets it read: Dels are ids that it was given a row of.
// It is always seeded, whatever since is. The shape "false" tells it of every
// write to what it may read, by events that hold nothing.
func (s *Session) Subscribe(ctx context.Context, from Shape, since uint64) (*Subscription, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(from.Collection, "_") {
		return nil, fault.New(fault.NotFound, "collection %.80q is the server's own and cannot be followed", from.Collection)
	}
	params, err := parameters(from.Args)
	if err != nil {
		return nil, err
	}
	x, err := s.shape(&from)
	if err != nil {
		return nil, err
	}
	sub := &Subscription{session: s, shape: x, params: params, cursor: since, name: from.Collection, ended: make(chan struct{})}
	sub.look, sub.fresh, sub.scope = true, true, newScope(s.policy, x)
	if sub.scope != nil {
		sub.cursor = NoCursor
	}
	if err := sub.begin(); err != nil {
		s.db.watch.forget(x)
		return nil, err
	}
	return sub, nil
}

// begin compiles the shape and joins its collection's topic.
func (sub *Subscription) begin() error {
	db := sub.session.db
	r, err := db.store.Read()
	if err != nil {
		return public(err)
	}
	defer r.End()
	if n := sub.shape.params; n > len(sub.params) {
		return fault.New(fault.Query, "parameter $%d is not given", n)
	}
	cat := db.catalogAt(r.Seq())
	if _, err := sub.shape.all.compile(cat); err != nil {
		return err
	}
	sub.def = cat.Find(sub.name)
	if err := sub.shape.check(sub.def); err != nil {
		return err
	}
	sub.seed = sub.cursor > r.Seq() || sub.cursor < db.Horizon() || !db.history.Sure(sub.cursor)
	sub.topic, err = db.watch.join(sub.def.Number)
	return err
}

// errSubscriptionClosed is ErrClosed, told of a subscription whose database may
// well be open.
var errSubscriptionClosed error = subscriptionClosed{}

type subscriptionClosed struct{}

func (subscriptionClosed) Error() string { return "subscription is closed" }

// Is reports whether target is ErrClosed.
func (subscriptionClosed) Is(target error) bool { return target == ErrClosed }

// Close ends the subscription, also while Next waits, which then returns
// ErrClosed. Closing again does nothing.
func (sub *Subscription) Close() error {
	if sub.served != nil {
		return sub.served.end()
	}
	sub.once.Do(func() {
		close(sub.ended)
		w := &sub.session.db.watch
		w.leave(sub.topic)
		w.forget(sub.shape)
	})
	return nil
}

// Next waits for the next event, until ctx ends. A write wakes it once readers
// see it. When the collection is dropped it returns ErrNotFound; when the
// subscription or the database is closed, ErrClosed. After an error of ctx it
// may be called again.
func (sub *Subscription) Next(ctx context.Context) (Event, error) {
	if sub.served != nil {
		return sub.served.next(ctx)
	}
	for {
		if err := sub.over(ctx); err != nil {
			return Event{}, err
		}
		if sub.look {
			ev, err := sub.advance(ctx)
			if ev.Kind != 0 || err != nil {
				return ev, err
			}
		}
		cursor, err := sub.session.db.watch.wait(ctx, sub.topic, sub.cursor, sub.ended)
		if err != nil {
			return Event{}, err
		}
		sub.cursor, sub.look = cursor, true
	}
}

// over returns why there is no next event to look for.
func (sub *Subscription) over(ctx context.Context) error {
	select {
	case <-sub.ended:
		return errSubscriptionClosed
	default:
		return ctx.Err()
	}
}

// advance looks for an event on a snapshot of its own. There is none if its kind
// is 0.
func (sub *Subscription) advance(ctx context.Context) (ev Event, err error) {
	for range retries {
		if ev, err = sub.advanceOnce(ctx); !errors.Is(err, ErrSnapshotTooOld) {
			break
		}
	}
	return ev, err
}

func (sub *Subscription) advanceOnce(ctx context.Context) (Event, error) {
	db := sub.session.db
	r, err := db.store.Read()
	if err != nil {
		return Event{}, public(err)
	}
	defer r.End()
	m := moment{Subscription: sub, view: &r.View, cat: db.catalogAt(r.Seq())}
	if m.now = m.cat.Numbered(sub.def.Number); m.now == nil {
		return Event{}, fault.New(fault.NotFound, "collection %q was dropped", sub.name)
	}
	return m.event(ctx)
}
