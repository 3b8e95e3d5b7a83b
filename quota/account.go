package quota

import (
	"sync"
	"sync/atomic"
	"time"
)

// Account counts what one tenant uses. Its methods are safe for concurrent use.
type Account struct {
	meter  *Meter
	tenant string
	users  int // Opens less Closes; guarded by meter.mu

	// What was counted since the last flush.
	requests, rowsRead, rowsWritten, bytesRead, bytesWritten, cpu atomic.Int64

	holds   atomic.Pointer[Holding] // what Holds was told, or nil
	streams streamTime

	// Guarded by meter.flushing.
	unsaved Usage   // taken from the counters, and not in the database
	loaded  bool    // storage is what the database has
	storage storage // as of the last flush that saved it
}

// Add counts what a request used. Streams and ByteSeconds are not added: they come
// of OpenStream and Holds.
func (a *Account) Add(u Usage) {
	add(&a.requests, u.Requests)
	add(&a.rowsRead, u.RowsRead)
	add(&a.rowsWritten, u.RowsWritten)
	add(&a.bytesRead, u.BytesRead)
	add(&a.bytesWritten, u.BytesWritten)
	add(&a.cpu, int64(u.CPU))
}

// add leaves a counter alone that nothing is added to: most requests touch few.
func add(c *atomic.Int64, n int64) {
	if n != 0 {
		c.Add(n)
	}
}

// Holds says what the tenant holds from now on: until it is said anew, also while
// the tenant is closed and across restarts. A change counts from the next flush.
func (a *Account) Holds(h Holding) { a.holds.Store(&h) }

// OpenStream begins to count the time of a subscription, until CloseStream.
func (a *Account) OpenStream() { a.streams.change(a.meter.clock(), 1) }

// CloseStream ends what OpenStream began.
func (a *Account) CloseStream() { a.streams.change(a.meter.clock(), -1) }

// Close gives the account up, whose streams are closed, and which must not be used
// afterwards. What it counted stays.
func (a *Account) Close() {
	a.meter.mu.Lock()
	defer a.meter.mu.Unlock()
	a.users--
}

// counted returns what the counters hold.
func (a *Account) counted(now time.Time) Usage {
	return Usage{
		Requests:     a.requests.Load(),
		RowsRead:     a.rowsRead.Load(),
		RowsWritten:  a.rowsWritten.Load(),
		BytesRead:    a.bytesRead.Load(),
		BytesWritten: a.bytesWritten.Load(),
		CPU:          time.Duration(a.cpu.Load()),
		Streams:      a.streams.total(now),
	}
}

// take moves what the counters hold to unsaved. What is added meanwhile stays.
func (a *Account) take(now time.Time) {
	u := a.counted(now)
	a.requests.Add(-u.Requests)
	a.rowsRead.Add(-u.RowsRead)
	a.rowsWritten.Add(-u.RowsWritten)
	a.bytesRead.Add(-u.BytesRead)
	a.bytesWritten.Add(-u.BytesWritten)
	a.cpu.Add(-int64(u.CPU))
	a.streams.subtract(u.Streams)
	a.unsaved.add(u)
}

// resized reports whether Holds said what the last flush did not save.
func (a *Account) resized() bool {
	h := a.holds.Load()
	return h != nil && !(a.loaded && a.storage.holding() == *h)
}

// quiet reports whether there is nothing to save.
func (a *Account) quiet(now time.Time) bool {
	return a.unsaved == Usage{} && a.counted(now) == Usage{} && !a.resized()
}

// streamTime adds up the time of several streams at once. Streams open and close
// seldom, so that a lock does.
type streamTime struct {
	mu   sync.Mutex // guards the fields below
	open int64
	at   time.Time // up to which sum has the time of those that are open
	sum  time.Duration
}

func (s *streamTime) change(now time.Time, by int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(now)
	s.open += by
}

// advance brings sum to now. The lock is held.
func (s *streamTime) advance(now time.Time) {
	if s.open > 0 && now.After(s.at) {
		s.sum += time.Duration(s.open) * now.Sub(s.at)
	}
	s.at = now
}

func (s *streamTime) total(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(now)
	return s.sum
}

func (s *streamTime) subtract(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum -= d
}
