package replication

import "time"

const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
	// unstoredPause is for images that the replica cannot keep: they cost the primary
	// most, and what is in the way of them seldom goes by itself.
	unstoredPause = 30 * time.Second
)

// Outcome is how a stream ended.
type Outcome int

// The outcomes of a stream.
const (
	Ended    Outcome = iota // the primary said so
	Broken                  // it was cut off, silent, malformed, refused, or never began
	Unfit                   // a write did not follow on what is here, or could not be applied
	Unstored                // an image could not be kept here
)

// Backoff decides how long to rest between streams: the longer the more of them came to
// nothing.
type Backoff struct {
	failures int // since something came last
}

// Came says that something came and was taken.
func (b *Backoff) Came() { b.failures = 0 }

// Lost says that the stream ended, and returns how long to rest before the next.
func (b *Backoff) Lost(o Outcome) time.Duration {
	if o == Ended {
		b.failures = 0
		return shortestPause
	}
	pause := longestPause
	if b.failures < 6 { // 100 ms, doubled six times, are past the longest
		pause = shortestPause << b.failures
		b.failures++
	}
	if o == Unstored {
		return unstoredPause
	}
	return pause
}
