package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// errUnstored is why a copy could not take an image.
var errUnstored = errors.New("the image could not be stored")

// session is one stream of a follower, of its goroutine alone.
type session struct {
	*Replica
	in      *replication.Decoder
	hello   replication.Hello
	numbers uint64    // up to where the primary may have given them out
	durable uint64    // the last write on the primary's disk, as far as it told
	own     bool      // the copy holds writes that the image which comes does not
	met     time.Time // when the hello came
	told    time.Time // as of when the primary told of itself last, by the clock here
	report  *reporter // nil if the primary does not ask for reports
}

// follow asks for a stream and takes what comes until it ends. It always returns an error.
func (r *Replica) follow(ctx context.Context) error {
	query, err := r.query(ctx)
	if err != nil {
		return err
	}
	res, err := r.primary.get(ctx, "/_replication?"+query, replication.ContentType)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	s := &session{Replica: r, in: replication.NewDecoder(res.Body)}
	if text := res.Header.Get(headerNumbers); text != "" {
		if s.numbers, err = strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("%s: %w", headerNumbers, replication.ErrCorrupt)
		}
	}
	s.own = res.Header.Get(headerParted) != ""
	if err := s.greeted(ctx); err != nil {
		return err
	}
	if stream := res.Header.Get(headerHeld); stream != "" {
		s.report = r.startReports(ctx, stream)
		defer s.report.stop()
	}
	for err == nil {
		err = s.next(ctx)
	}
	return err
}

// query returns what is asked for.
func (r *Replica) query(ctx context.Context) (string, error) {
	at, err := r.position(ctx)
	if err != nil {
		return "", err
	}
	ask := r.follower.Ask(at)
	q := url.Values{"since": {strconv.FormatUint(ask.Since, 10)}, "digest": {fenec.Version}}
	if ask.History != 0 {
		q.Set("history", ask.History.String())
	}
	if ask.Image {
		q.Set("image", "1")
	}
	err = r.use(ctx, func(db *fenec.DB) error {
		if last := fingerprint(ctx, db, ask.Since); last != "" {
			q.Set("last", last)
		}
		return nil
	})
	return q.Encode(), err
}

// use gives the copy to fn for a moment.
func (r *Replica) use(ctx context.Context, fn func(db *fenec.DB) error) error {
	db, release, err := r.copy.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	return fn(db)
}

// position returns where the copy stands.
func (r *Replica) position(ctx context.Context) (p replication.Position, err error) {
	err = r.use(ctx, func(db *fenec.DB) error {
		h := db.History()
		if !h.Following {
			return fenec.ErrNotReplica
		}
		p = replication.Position{Last: db.LastWrite(), Lineage: h.Lineage}
		return nil
	})
	return p, err
}

// greeted takes the hello.
func (s *session) greeted(ctx context.Context) error {
	m, err := s.in.Next()
	if err != nil {
		return err
	}
	hello, ok := m.(replication.Hello)
	if !ok {
		return fmt.Errorf("a stream without a hello: %w", replication.ErrCorrupt)
	}
	at, err := s.position(ctx)
	if err != nil {
		return err
	}
	greeting, err := s.follower.Greet(at, hello)
	if err != nil {
		return err
	}
	s.hello, s.durable, s.met = hello, hello.Durable, time.Now()
	switch {
	case greeting.Image:
		if s.own = s.own || greeting.Own; s.own {
			s.log("the image ends at change %d and this copy at %d, with writes that its primary does not have: these are given up", hello.Seq, at.Last)
		}
	case greeting.Lineage != nil:
		// Before any write that may belong to it: a crash in between leaves a copy that
		// knows more of the histories than it has writes of, which Lineage allows for.
		if err := s.use(ctx, func(db *fenec.DB) error { return db.TakeOver(ctx, greeting.Lineage) }); err != nil {
			return err
		}
	}
	s.note(func(st *ReplicaStatus) { st.Connected, st.Error = true, "" })
	if greeting.Image {
		s.contact(hello.Durable, at.Last, time.Time{})
		return nil
	}
	s.told = s.met
	return s.stand(ctx)
}

// asOf returns when it was, by the clock here, that the primary's clock said so. What has
// waited on its way for long says nothing of now.
func (s *session) asOf(ms int64) time.Time {
	return s.met.Add(time.Duration(ms-s.hello.Time) * time.Millisecond)
}

// next takes the next message.
func (s *session) next(ctx context.Context) error {
	m, err := s.in.Next()
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case replication.Image:
		err = s.stored(ctx, m)
	case replication.Writes:
		err = s.apply(ctx, m)
	case replication.Alive:
		s.durable, s.told = m.Durable, s.asOf(m.Time)
		err = s.stand(ctx)
	case replication.Digest:
		err = s.compare(ctx, m)
	case replication.End:
		return endedError("the primary ended the stream: " + m.Reason)
	}
	if err == nil {
		s.follower.Came()
	}
	return err
}

// stand notes where the copy stands, and that it is complete once it has all that its
// primary had when the stream began.
func (s *session) stand(ctx context.Context) error {
	return s.use(ctx, func(db *fenec.DB) error {
		last := db.LastWrite()
		s.contact(s.durable, last, s.told)
		s.report.ring()
		if last < s.hello.Seq || s.hello.History.Incomplete || !db.History().Incomplete && s.numbers <= db.Seq() {
			return nil
		}
		return db.CaughtUp(ctx, s.numbers)
	})
}

// stored makes the copy what the image is.
func (s *session) stored(ctx context.Context, m replication.Image) error {
	in := &noting{r: m.Reader}
	a, err := fenec.ReceiveReplica(s.copy.Path(), in, s.hello.History)
	switch {
	case in.err != nil:
		return in.err
	case errors.Is(err, fenec.ErrImage):
		return fmt.Errorf("the image: %w", err)
	case err != nil:
		return fmt.Errorf("%w: %w", errUnstored, err)
	}
	kept, err := s.copy.Replace(ctx, a, s.own)
	if kept != "" {
		s.log("the image has taken the place of a copy with writes that its primary does not have: that copy is KEPT at %s", kept)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnstored, err)
	}
	s.own, s.told = false, s.met
	s.follower.Stored()
	s.note(func(st *ReplicaStatus) { st.Images++ })
	return s.stand(ctx)
}

// noting remembers why its reader could not be read to the end.
type noting struct {
	r   io.Reader
	err error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return k, err
}

// apply makes the writes.
func (s *session) apply(ctx context.Context, m replication.Writes) error {
	err := s.use(ctx, func(db *fenec.DB) error {
		_, err := db.Apply(ctx, m.Records, m.Times)
		return err
	})
	switch {
	case err == nil:
		// Who has these and all that was on the primary's disk by then has what was when
		// they were written.
		if of := s.asOf(m.Times[len(m.Times)-1]); of.After(s.told) {
			s.told = of
		}
		return s.stand(ctx)
	case ctx.Err() != nil, isAny(err, fenec.ErrFailed, fenec.ErrNotReplica, fenec.ErrClosed, fenec.ErrSnapshotTooOld):
		return err
	}
	return fmt.Errorf("%w: %w", replication.ErrUnfit, err)
}

func isAny(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

// compare holds the copy against the primary's digest, if both stand at the same write.
func (s *session) compare(ctx context.Context, theirs replication.Digest) error {
	var own replication.Digest
	var comparable bool
	err := s.use(ctx, func(db *fenec.DB) (err error) {
		own, comparable, err = digestOf(ctx, db, theirs.Seq)
		return err
	})
	if err != nil || !comparable || own.Root == theirs.Root {
		return err
	}
	s.note(func(st *ReplicaStatus) { st.Diverged++ })
	where := strings.Join(own.Differing(theirs), ", ")
	if where == "" {
		where = "it is not known where"
	}
	s.log("this copy DIFFERS from its primary's database at change %d: %s", theirs.Seq, where)
	if !s.follower.Differs(time.Since(s.began)) {
		return nil
	}
	return fmt.Errorf("the copy differs from its primary at change %d: %w", theirs.Seq, replication.ErrUnfit)
}
