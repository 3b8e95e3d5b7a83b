package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// sentWait is how long a write waits until it is in the sockets of all replicas that keep
// up.
const sentWait = time.Second

type heldKey struct{}

// WithHeld makes the writes under ctx wait until n replicas hold them on disk, whatever
// SourceOptions.Held says.
func WithHeld(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, heldKey{}, n)
}

// mostCopies is the most replicas that a request may wait for.
const mostCopies = 64

// ParseCopies reads how many replicas a request wants its writes held by, the header
// Fenec-Replicas. It gets no fewer than least.
func ParseCopies(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > mostCopies {
		return 0, fmt.Errorf("Fenec-Replicas is a number from 0 to %d", mostCopies)
	}
	return max(n, least), nil
}

// ErrNoReports is for writes that are to wait for replicas, where SourceOptions.Reports does
// not have these tell what they hold.
var ErrNoReports = errors.New("the write is to wait for replicas, whose disks this server is not told of")

// HeldError is returned for a write that stands, but that fewer replicas than were asked
// for hold on disk.
type HeldError struct {
	Seq  uint64 // of the write
	Want int    // replicas that were to hold it
	Have int    // those that said they do
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("the write stands here, but %d of %d replicas hold it on disk", e.Have, e.Want)
}

// Confirm waits until the write seq is as far as it has to be: in the sockets of the
// streams that keep up, for a second at most, and on the disks of as many replicas as were
// asked for. A write that the policy of the database lets be answered before it is on disk
// waits for nobody, unless copies were asked for. It is what fenec.DB.SetConfirm wants.
func (s *Source) Confirm(ctx context.Context, seq uint64) error {
	want, asked := ctx.Value(heldKey{}).(int)
	if !asked {
		want = s.opts.Held
	}
	if want > 0 {
		return s.confirmHeld(ctx, seq, want)
	}
	if s.db.SyncedSeq() < seq {
		return nil
	}
	return s.confirmSent(ctx, seq)
}

// confirmSent waits for the sockets. Those that did not take the write in time lag.
func (s *Source) confirmSent(ctx context.Context, seq uint64) error {
	reached := func() bool { return s.audience.Reached(seq) }
	late, err := s.await(ctx, sentWait, reached)
	if late {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.audience.Missed(seq)
	}
	return err
}

// confirmHeld waits for the disks.
func (s *Source) confirmHeld(ctx context.Context, seq uint64, want int) error {
	if s.opts.Held <= 0 && !s.opts.Reports {
		return &HeldError{Seq: seq, Want: want}
	}
	if err := s.db.Sync(ctx); err != nil { // what is not on disk is not sent
		return err
	}
	have := 0
	late, err := s.await(ctx, s.opts.HeldTimeout, func() bool {
		have = s.audience.Copies(seq)
		return have >= want
	})
	if late {
		return &HeldError{Seq: seq, Want: want, Have: have}
	}
	return err
}

// await waits until ok, which is called under the lock, and reports whether it took longer
// than that.
func (s *Source) await(ctx context.Context, atMost time.Duration, ok func() bool) (late bool, err error) {
	var timer *time.Timer
	for {
		s.mu.Lock()
		done, moved := ok(), s.moved
		s.mu.Unlock()
		if done {
			return false, nil
		}
		if timer == nil {
			timer = time.NewTimer(atMost)
			defer timer.Stop()
		}
		select {
		case <-moved:
		case <-timer.C:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// movedLocked wakes those who wait for the audience.
func (s *Source) movedLocked() {
	close(s.moved)
	s.moved = make(chan struct{})
}

// held answers POST held, by which a replica says what is on its disk.
func (s *Source) held(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	stream, err := number(q, "stream")
	seq, err2 := number(q, "seq")
	switch {
	case err != nil || err2 != nil:
		refuse(w, http.StatusBadRequest, errors.Join(err, err2).Error())
	case !s.heldTo(stream, seq):
		refuse(w, http.StatusNotFound, "there is no such stream")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// heldTo notes what the replica of a stream holds, if that is there.
func (s *Source) heldTo(stream, seq uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[stream] == nil {
		return false
	}
	s.audience.Held(stream, min(seq, s.db.LastWrite())) // it has not come further
	s.movedLocked()
	return true
}
