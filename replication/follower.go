package replication

import (
	"fmt"
	"slices"
	"time"
)

// divergedPause is how long a replica that differs though it took an image for that waits
// until it takes another.
const divergedPause = 10 * time.Minute

// Position is where a replica stands: the last write it holds, and of which histories.
type Position struct {
	Last    uint64
	Lineage Lineage
}

// Request is what a replica asks its primary for: the writes since a change of a history,
// or an image whatever the primary thinks.
type Request struct {
	Since   uint64
	History ID
	Image   bool
}

// Greeting is what a replica does with its primary's hello.
type Greeting struct {
	// Image says that an image comes, which takes the place of everything held.
	Image bool
	// Own says that the replica holds writes which that image does not have, as far as the
	// histories tell: what is replaced is not a part of what comes.
	Own bool
	// Lineage must be on the replica's disk before any write that comes is. It is nil if
	// it is there already, and for an image, which brings it.
	Lineage Lineage
}

// Follower decides what a replica asks for, takes and refuses, and how long it rests
// between its streams. Ask, Greet and what came are called in the order of a stream, and
// Lost at its end.
type Follower struct {
	Backoff
	image bool // the next request must be for an image
	asked Request

	imaged   bool          // an image was taken because of a difference
	imagedAt time.Duration // and when
}

// Ask begins a stream of a replica that stands at p.
func (f *Follower) Ask(p Position) Request {
	f.asked = p.request()
	f.asked.Image = f.image
	return f.asked
}

// request returns what goes on from p. What holds nothing is a part of everything,
// whatever its histories were.
func (p Position) request() Request {
	if p.Last == 0 {
		return Request{}
	}
	return Request{Since: p.Last, History: p.Lineage.Current()}
}

// Greet judges the hello of a primary. The replica must still stand where it asked from.
// What a primary that is wrong about the two histories sends is refused with ErrUnfit.
func (f *Follower) Greet(p Position, h Hello) (Greeting, error) {
	if h.Image {
		return Greeting{Image: true, Own: !h.History.Lineage.Continued(p.request().History, p.Last, h.Seq)}, nil
	}
	switch {
	case f.asked.Image:
		return Greeting{}, fmt.Errorf("an image was asked for and does not come: %w", ErrUnfit)
	case p.request() != f.asked:
		return Greeting{}, fmt.Errorf("asked from change %d, and stands at %d: %w", f.asked.Since, p.Last, ErrUnfit)
	case !h.History.Lineage.Continued(f.asked.History, f.asked.Since, h.Seq):
		return Greeting{}, fmt.Errorf("the primary, at change %d, does not go on from %d of history %v: %w",
			h.Seq, f.asked.Since, f.asked.History, ErrUnfit)
	case slices.Equal(h.History.Lineage, p.Lineage):
		return Greeting{}, nil
	}
	return Greeting{Lineage: h.History.Lineage}, nil
}

// Stored says that the image that was announced is the replica's database now.
func (f *Follower) Stored() { f.image = false }

// Differs says that the digests of the primary and the replica differ. It reports whether
// the replica is to ask for an image because of it: not again so soon that an image did
// not help.
func (f *Follower) Differs(now time.Duration) bool {
	if f.imaged && now-f.imagedAt < divergedPause {
		return false
	}
	f.imaged, f.imagedAt = true, now
	f.image = true
	return true
}

// Lost says that the stream ended, and returns how long to rest before the next.
func (f *Follower) Lost(o Outcome) time.Duration {
	f.image = f.image || o == Unfit
	return f.Backoff.Lost(o)
}
