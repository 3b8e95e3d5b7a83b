package mirror

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// aliveAfter is after how long without anything to send a stream says that it is there.
const aliveAfter = 2 * time.Second

// endedError ends a stream with a reason that its replica is told.
type endedError string

func (e endedError) Error() string { return string(e) }

const (
	errOutrun = endedError("the replica fell behind what is kept for replicas")
	errForked = endedError("the history of the database has changed")
	errAgain  = endedError("the replica has connected again")
)

// stream sends a database to one replica. All but image and end is for the goroutine of
// its request.
type stream struct {
	source  *Source
	number  uint64
	peer    string // address
	replica string // its instance, "" if it does not tell
	end     context.CancelCauseFunc
	image   atomic.Bool

	encoder *replication.Encoder
	out     *sink
	history replication.History // of the hello
	sent    uint64              // number up to which everything was sent
	cut     bool                // a message was not sent to its end: none can follow

	digests  bool   // the replica compares them
	digested uint64 // where the last one was made
}

// serveStream answers GET of a stream.
func (s *Source) serveStream(w http.ResponseWriter, r *http.Request) {
	ask, err := parseAsk(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if ask.replica == s.opts.Instance {
		refuse(w, http.StatusConflict, "the database cannot follow itself")
		return
	}
	ctx, end := context.WithCancelCause(r.Context())
	defer end(nil)
	st := s.join(ask, r.RemoteAddr, end)
	if st == nil {
		refuse(w, http.StatusServiceUnavailable, "the database is being closed")
		return
	}
	defer s.leave(st)
	if err := st.serve(ctx, w, r, ask); err != nil && r.Context().Err() == nil {
		s.log("the replica at %s: %v", st.peer, err)
	}
}

// join makes a stream one of the source's, nil after Close. It ends an older one to the
// same replica.
func (s *Source) join(ask ask, peer string, end context.CancelCauseFunc) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	for _, other := range s.streams {
		if other.replica == ask.replica && ask.replica != "" {
			other.end(errAgain)
		}
	}
	s.last++
	st := &stream{source: s, number: s.last, peer: peer, replica: ask.replica, end: end, digests: ask.digests}
	s.streams[st.number] = st
	s.audience.Join(st.number, st.replica)
	return st
}

func (s *Source) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st.number)
	s.audience.Leave(st.number)
	s.movedLocked()
	s.departedLocked()
}

// serve sends the stream until it ends, and returns why it could not be gone on with.
func (st *stream) serve(ctx context.Context, w http.ResponseWriter, r *http.Request, ask ask) error {
	start, err := st.begin(ctx, ask)
	if err != nil {
		return st.refuse(ctx, w, err)
	}
	defer start.close()
	st.history = start.hello.History
	w.Header().Set(headerNumbers, strconv.FormatUint(start.numbers, 10))
	if start.parted {
		w.Header().Set(headerParted, "1")
	}
	if st.reports() {
		w.Header().Set(headerHeld, strconv.FormatUint(st.number, 10))
	}
	st.out = newSink(w, r, replication.ContentType)
	st.encoder = replication.NewEncoder(st.out)
	err = st.greet(ctx, start)
	for err == nil {
		err = st.step(ctx)
	}
	if reason := reasonOf(ctx, err); reason != "" && !st.cut {
		return st.send(replication.End{Reason: reason})
	}
	return err
}

// reasonOf returns what a replica is told of why its stream ends, "" for nothing.
func reasonOf(ctx context.Context, err error) string {
	var ended endedError
	switch {
	case errors.As(err, &ended) || errors.As(context.Cause(ctx), &ended):
		return string(ended)
	case errors.Is(err, fenec.ErrClosed):
		return "the database is being closed"
	}
	return ""
}

// reports reports whether the replica is to tell what is on its disk.
func (st *stream) reports() bool {
	opts := &st.source.opts
	return st.replica != "" && (opts.Held > 0 || opts.Reports)
}

// refuse answers a request for a stream that did not begin.
func (st *stream) refuse(ctx context.Context, w http.ResponseWriter, err error) error {
	var ended endedError
	switch {
	case errors.Is(err, fenec.ErrNoFeed):
		refuse(w, http.StatusConflict, "the database keeps no feed for replicas")
		return nil
	case errors.As(context.Cause(ctx), &ended):
		refuse(w, http.StatusServiceUnavailable, string(ended))
		return nil
	case errors.Is(err, errDiskBehind):
		refuse(w, http.StatusServiceUnavailable, err.Error())
	default:
		refuse(w, http.StatusInternalServerError, "the stream could not begin")
	}
	return err
}

// greet sends the hello, and the image after it if there is one.
func (st *stream) greet(ctx context.Context, start *start) error {
	if err := st.send(start.hello); err != nil {
		return err
	}
	if start.image != nil {
		st.image.Store(true)
		defer st.image.Store(false)
		m := replication.Image{Size: start.image.Size(), Reader: untilEnd{ctx, start.image}}
		if err := st.send(m); err != nil {
			return err
		}
	}
	start.close()
	st.came(start.sent, false)
	return nil
}

// step sends what there is, or waits for it.
func (st *stream) step(ctx context.Context) error {
	db := st.source.db
	// Before the blocks are looked for. It may be past the last write, by numbers that no
	// write has.
	seen := db.SyncedSeq()
	blocks, err := db.FeedBlocks(ctx, st.sent, replication.MaxWrites)
	var cursor *fenec.CursorError
	switch {
	case errors.As(err, &cursor):
		return errOutrun
	case err != nil:
		return err
	case st.forked():
		// What was written since it changed is of a history that the replica does not have.
		return errForked
	case len(blocks) > 0:
		return st.write(blocks)
	}
	st.came(st.sent, true)
	return st.idle(ctx, max(st.sent, seen))
}

// forked reports whether the history is another than the hello told.
func (st *stream) forked() bool {
	h := st.source.db.History()
	return h.Incomplete != st.history.Incomplete || !slices.Equal(h.Lineage, st.history.Lineage)
}

// write sends as many of the blocks as one message takes.
func (st *stream) write(blocks []fenec.FeedBlock) error {
	w := replication.Writes{First: blocks[0].First}
	var last uint64
	for _, b := range blocks {
		if !w.Add(b.Record, b.At) {
			break
		}
		last = b.Last
	}
	if err := st.send(w); err != nil {
		return err
	}
	st.came(last, false)
	return nil
}

// came notes that everything up to seq is in the socket, and whether that is all there is.
func (st *stream) came(seq uint64, all bool) {
	st.sent = seq
	s := st.source
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audience.Sent(st.number, seq, all)
	s.movedLocked()
}

// idle waits until there is something to send past seen. When it has waited for long
// enough it says that it is there.
func (st *stream) idle(ctx context.Context, seen uint64) error {
	waiting, stop := context.WithTimeout(ctx, aliveAfter)
	defer stop()
	err := st.source.db.WaitFeed(waiting, seen)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || waiting.Err() == nil:
		return err
	}
	if err := st.send(st.alive()); err != nil {
		return err
	}
	return st.digest(ctx)
}

func (st *stream) alive() replication.Alive {
	last := st.source.db.LastWrite()
	return replication.Alive{Seq: last, Durable: durable(st.source.db, last), Time: time.Now().UnixMilli()}
}

// durable returns the last write on disk, of a database whose last write is given.
func durable(db *fenec.DB, last uint64) uint64 { return min(last, db.SyncedSeq()) }

// digest sends what the database holds, summed up, if the replica stands at the same write
// and has not been sent it yet.
func (st *stream) digest(ctx context.Context) error {
	last := st.source.db.LastWrite()
	if !st.digests || st.digested == last || st.sent < last {
		return nil
	}
	m, ok, err := digestOf(ctx, st.source.db, last)
	if err != nil || !ok {
		return err
	}
	st.digested = last
	return st.send(m)
}

// digestOf sums up what db holds. ok is false if some of that is not known, or the last
// write is another than at.
func digestOf(ctx context.Context, db *fenec.DB, at uint64) (m replication.Digest, ok bool, err error) {
	if db.LastWrite() != at {
		return m, false, nil
	}
	d, err := db.Digest(ctx)
	if err != nil || !d.Known() || db.LastWrite() != at {
		return m, false, err
	}
	m.Seq, m.Root = at, d.Root()
	list := make([]replication.CollectionDigest, len(d.Collections))
	for i, c := range d.Collections {
		list[i] = replication.CollectionDigest{Name: c.Name, Rows: c.Rows, Sum: c.Sum}
	}
	m.Name(list)
	return m, true, nil
}

func (st *stream) send(m replication.Message) error {
	err := st.encoder.Encode(m)
	if err == nil {
		err = st.out.flush()
	}
	st.cut = st.cut || err != nil
	return err
}
