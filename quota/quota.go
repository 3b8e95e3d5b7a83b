package quota

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// Quota holds one open database to limits. All methods are safe for concurrent
// use, and a nil *Quota, which stands for no limits, allows everything.
type Quota struct {
	db  *fenec.DB
	now func() time.Duration // since New

	limits   atomic.Pointer[Limits] // never nil; replaced under mu
	requests atomic.Int64           // in flight
	streams  atomic.Int64           // open

	mu    sync.Mutex // guards the fields below; taken under the database's write lock
	asked bool       // the database asks about its blocks

	rowsPerSecond, bytesPerSecond, requestsPerSecond bucket

	held    Holding // what the database holds, with the block at hand
	counted bool    // held is known
	block   pending // the last block that was asked about
}

// New holds db to limits from now on, whatever it holds already. It takes the
// place of what fenec.DB.SetLimit was given; a database has one Quota at a time.
// clock tells the time of the rates; nil is time.Now.
func New(db *fenec.DB, limits Limits, clock func() time.Time) *Quota {
	q := &Quota{db: db, now: since(clock)}
	q.Set(limits)
	return q
}

// since returns a clock of the time that has passed since the call. The monotonic
// clock by itself is read in half the time that time.Now takes.
func since(clock func() time.Time) func() time.Duration {
	if clock == nil {
		began := time.Now()
		return func() time.Duration { return time.Since(began) }
	}
	began := clock()
	return func() time.Duration { return clock().Sub(began) }
}

// Set replaces all limits at once. The rates start anew with full buckets; what
// is open stays open and counted.
func (q *Quota) Set(limits Limits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	q.limits.Store(&limits)
	q.rowsPerSecond = fullBucket(limits.RowsPerSecond, now)
	q.bytesPerSecond = fullBucket(limits.BytesPerSecond, now)
	q.requestsPerSecond = fullBucket(limits.RequestsPerSecond, now)
	q.install(limits.boundsWrites())
}

// Limits returns what was set.
func (q *Quota) Limits() Limits {
	if q == nil {
		return Limits{}
	}
	return *q.limits.Load()
}

// Remove lifts all limits. Requests and streams that are open may still
// be taken off.
func (q *Quota) Remove() {
	if q != nil {
		q.Set(Limits{})
	}
}

// install makes the database ask, or not.
func (q *Quota) install(ask bool) {
	if ask == q.asked {
		return
	}
	q.asked = ask
	q.counted = false // blocks land unseen meanwhile
	if ask {
		q.db.SetLimit(q.ask)
	} else {
		q.db.SetLimit(nil)
	}
}

// Enter counts a request in, to be taken off with Leave, or refuses it.
func (q *Quota) Enter() error {
	if q == nil {
		return nil
	}
	l := q.limits.Load()
	if !countIn(&q.requests, l.Requests) {
		return &Refusal{KeyRequests, l.Requests, 1}
	}
	if l.RequestsPerSecond == 0 {
		return nil
	}
	if r := q.takeRequest(); r != nil {
		q.requests.Add(-1)
		return r
	}
	return nil
}

// takeRequest takes one request from the rate's bucket, if there is one.
func (q *Quota) takeRequest() *Refusal {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := &q.requestsPerSecond
	if b.rate == 0 {
		return nil // the limits have changed meanwhile
	}
	b.refill(q.now())
	if !b.hasOne() {
		return &Refusal{KeyRequestsPerSecond, b.rate, b.untilOne()}
	}
	b.take(1)
	return nil
}

// Leave takes off a request that Enter counted in.
func (q *Quota) Leave() {
	if q != nil {
		q.requests.Add(-1)
	}
}

// OpenStream counts a subscription in, to be taken off with CloseStream, or
// refuses it.
func (q *Quota) OpenStream() error {
	if q == nil {
		return nil
	}
	if l := q.limits.Load().Streams; !countIn(&q.streams, l) {
		return &Refusal{KeyStreams, l, 1}
	}
	return nil
}

// CloseStream takes off a subscription that OpenStream counted in.
func (q *Quota) CloseStream() {
	if q != nil {
		q.streams.Add(-1)
	}
}

// countIn adds one to n, unless that would pass the limit; 0 is none.
func countIn(n *atomic.Int64, limit int64) bool {
	if limit == 0 {
		n.Add(1)
		return true
	}
	for {
		old := n.Load()
		if old >= limit {
			return false
		}
		if n.CompareAndSwap(old, old+1) {
			return true
		}
	}
}

// Open returns how many requests and streams are counted in.
func (q *Quota) Open() (requests, streams int64) {
	if q == nil {
		return 0, 0
	}
	return q.requests.Load(), q.streams.Load()
}

// MayWrite is to be asked before a client's write runs. It refuses while the
// writes before have used up a rate, and takes nothing itself: a write is charged
// as it lands, once and whole, and one that fails is not.
func (q *Quota) MayWrite() error {
	if q == nil {
		return nil
	}
	if l := q.limits.Load(); l.RowsPerSecond == 0 && l.BytesPerSecond == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if writeRefusal(&q.rowsPerSecond, &q.bytesPerSecond) == nil {
		return nil // and time that has passed since only adds
	}
	rows, bytes := q.landed()
	if r := writeRefusal(&rows, &bytes); r != nil {
		return r
	}
	return nil
}

// writeRefusal returns what the buckets make a write wait for: the longer of two.
func writeRefusal(rows, bytes *bucket) *Refusal {
	var r *Refusal
	if rows.rate > 0 && !rows.hasOne() {
		r = &Refusal{KeyRowsPerSecond, rows.rate, rows.untilOne()}
	}
	if bytes.rate > 0 && !bytes.hasAny() {
		if wait := bytes.untilAny(); r == nil || wait > r.Wait {
			r = &Refusal{KeyBytesPerSecond, bytes.rate, wait}
		}
	}
	return r
}

// Warning returns the name of the ceiling of which more than 80 % is in use, the
// fuller one of two, or "". It knows what the database holds once something was
// written since it was opened, or since the ceiling was first set.
func (q *Quota) Warning() string {
	if q == nil {
		return ""
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.counted {
		return ""
	}
	held := q.held
	if q.block.undecided(q.db) {
		held.add(q.block.change.negative())
	}
	l := q.limits.Load()
	bytes, rows := share(held.Bytes, l.Bytes), share(held.Rows, l.Rows)
	switch {
	case max(bytes, rows) <= 0.8:
		return ""
	case bytes >= rows:
		return KeyBytes
	}
	return KeyRows
}

// share returns how much of a ceiling is in use; 1 is all.
func share(held, limit int64) float64 {
	if limit == 0 {
		return 0
	}
	return float64(held) / float64(limit)
}
