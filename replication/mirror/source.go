package mirror

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// closeWait is how long Close waits for streams that are writing into a socket.
const closeWait = time.Second

// SourceOptions say how a database is replicated from.
type SourceOptions struct {
	// Instance names this copy of the database among all. A follower of the same name is
	// refused: it would follow itself. Default: one that is drawn.
	Instance string

	// Promote makes the database a primary, for POST promote, and stops its follower before.
	// Default: fenec.DB.Promote, which is right where there is none.
	Promote func(ctx context.Context, force bool) (replication.History, error)

	// Following tells of the follower that feeds the same database, for the status. nil is
	// none, and so is false.
	Following func() (ReplicaStatus, bool)

	// Held is how many replicas must hold a write on disk before it is answered. Default
	// 0: it is answered once it has been written into the sockets of all that keep up.
	Held int

	// HeldTimeout is how long a write waits for that. Default 5 seconds.
	HeldTimeout time.Duration

	// Reports has replicas tell what they hold on disk though Held is 0, so that single
	// writes can ask for copies: see WithHeld. Each then brings what it got to its disk at
	// once, whatever its own policy.
	Reports bool

	// ErrorLog is told what happens to streams. Default: the standard logger.
	ErrorLog *log.Logger
}

// Source serves the replication routes of one open database. It is made when the
// database is opened, and closed before the database is. Its methods are safe for
// concurrent use.
type Source struct {
	db    *fenec.DB
	opts  SourceOptions
	feeds bool // the database keeps a feed

	mu       sync.Mutex // guards the fields below
	streams  map[uint64]*stream
	last     uint64 // number of the last stream
	audience replication.Audience
	moved    chan struct{} // closed and made anew when the audience has got further
	closed   bool
	left     chan struct{} // closed when the last stream has gone after Close
	deserted bool          // it is closed
}

// NewSource returns the source of db.
func NewSource(db *fenec.DB, opts SourceOptions) *Source {
	if opts.Instance == "" {
		opts.Instance = rand.Text()
	}
	if opts.HeldTimeout <= 0 {
		opts.HeldTimeout = 5 * time.Second
	}
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.Default()
	}
	if opts.Promote == nil {
		opts.Promote = db.Promote
	}
	_, err := db.FeedBlocks(context.Background(), db.LastWrite(), 1)
	return &Source{
		db: db, opts: opts, feeds: !errors.Is(err, fenec.ErrNoFeed),
		streams: map[uint64]*stream{}, moved: make(chan struct{}), left: make(chan struct{}),
	}
}

// Serve answers a request whose path is that behind "_replication": the stream at
// nothing, status, promote and held. Whoever calls it has seen to it that the sender may
// do so. A request does not need the database to be held open: see Close.
func (s *Source) Serve(w http.ResponseWriter, r *http.Request, path []string) {
	route := ""
	if len(path) > 0 {
		route = path[0]
	}
	switch {
	case len(path) > 1:
		refuse(w, http.StatusNotFound, "nothing at "+r.Method+" "+r.URL.Path)
	case route == "" && only(http.MethodGet, w, r):
		s.serveStream(w, r)
	case route == "status" && only(http.MethodGet, w, r):
		answer(w, http.StatusOK, s.Status())
	case route == "promote" && only(http.MethodPost, w, r):
		s.promote(w, r)
	case route == "held" && only(http.MethodPost, w, r):
		s.held(w, r)
	case !slices.Contains([]string{"", "status", "promote", "held"}, route):
		refuse(w, http.StatusNotFound, "nothing at "+r.Method+" "+r.URL.Path)
	}
}

// promote answers POST promote. With force=1 it promotes what has not caught up, too.
func (s *Source) promote(w http.ResponseWriter, r *http.Request) {
	h, err := s.opts.Promote(r.Context(), r.URL.Query().Get("force") == "1")
	switch {
	case errors.Is(err, fenec.ErrNotReplica), errors.Is(err, fenec.ErrIncomplete):
		refuse(w, http.StatusConflict, err.Error())
	case err != nil:
		s.log("promote: %v", err)
		refuse(w, http.StatusInternalServerError, "the database could not be promoted")
	default:
		s.Restart("the database was promoted")
		answer(w, http.StatusOK, promoted{true, forkedAt(h), h.Lineage.Current()})
	}
}

type promoted struct {
	Promoted bool           `json:"promoted"`
	Seq      uint64         `json:"seq"`
	History  replication.ID `json:"history"`
}

// forkedAt returns the write after which the current history began.
func forkedAt(h replication.History) uint64 {
	if len(h.Lineage) == 0 {
		return 0
	}
	return h.Lineage[len(h.Lineage)-1].From
}

// Restart ends all streams and tells their replicas the reason. They may come again.
func (s *Source) Restart(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams {
		st.end(endedError(reason))
	}
}

// Close ends all streams for good and tells their replicas the reason; further requests
// are refused. No stream uses the database after it, though one that is writing to a
// replica which does not read may last for a while.
func (s *Source) Close(reason string) {
	s.mu.Lock()
	s.closed = true
	s.departedLocked()
	s.mu.Unlock()
	s.Restart(reason)
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-s.left:
	case <-timer.C:
	}
}

// departedLocked tells Close when the last stream has gone.
func (s *Source) departedLocked() {
	if s.closed && len(s.streams) == 0 && !s.deserted {
		s.deserted = true
		close(s.left)
	}
}

// Peer is a replica that is attached.
type Peer struct {
	Peer  string `json:"peer"`           // its address
	Sent  uint64 `json:"sent"`           // the last write written into its socket
	Image bool   `json:"image"`          // it is being sent an image
	Held  uint64 `json:"held,omitempty"` // the last write it says is on its disk
	Lags  bool   `json:"lags,omitempty"` // writes do not wait for it
}

// Peers returns the replicas that are attached, in the order in which they came.
func (s *Source) Peers() []Peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	peers := make([]Peer, 0, len(s.streams))
	for _, st := range slices.SortedFunc(maps.Values(s.streams), func(a, b *stream) int { return cmp.Compare(a.number, b.number) }) {
		p := Peer{Peer: st.peer, Image: st.image.Load()}
		p.Sent, p.Held, p.Lags = s.audience.Progress(st.number)
		peers = append(peers, p)
	}
	return peers
}

func (s *Source) log(format string, args ...any) {
	s.opts.ErrorLog.Printf("replication: %s: %s", s.db.Path(), fmt.Sprintf(format, args...))
}
