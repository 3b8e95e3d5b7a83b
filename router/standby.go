package router

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// standby has the directory follow that of the primary router, and the maps follow the
// file: with each message of the primary they are brought up to what it has changed, before
// the primary is told that it has come. Requests never wait for that.
//
// It is the copy that a mirror.Replica keeps. A nil standby is that of a router that
// follows none.
type standby struct {
	router *Router
	file   *directoryFile

	// mu is held while the follower uses the database, and until the maps are brought up
	// to it. Who holds it sees the two agree.
	mu      sync.Mutex
	catcher catcher // guarded by mu

	promoting sync.Mutex // held by a promotion, and before mu
	replica   atomic.Pointer[mirror.Replica]
	closed    bool // guarded by promoting
}

// checkReplication says what is wrong with the options of replication.
func (rt *Router) checkReplication() error {
	if rt.follows() && rt.opts.ReplicationToken.IsZero() {
		return errors.New("router: to follow another one takes the replication token")
	}
	return nil
}

// follow begins to follow the primary.
func (rt *Router) follow() error {
	s := &standby{router: rt, file: rt.directory.file}
	s.catcher = catcher{directory: rt.directory, left: rt.forwarder.Forget, logf: rt.logf}
	if err := s.start(); err != nil {
		return err
	}
	rt.standby = s
	s.file.standby.Store(s)
	return nil
}

func (s *standby) start() error {
	rt := s.router
	r, err := mirror.StartReplica(s, mirror.ReplicaOptions{
		Primary: s.file.opts.Follow, Token: rt.opts.ReplicationToken, Instance: s.file.instance, ErrorLog: rt.opts.ErrorLog,
	})
	if err == nil {
		s.replica.Store(r)
	}
	return err
}

// close ends following. The router changes nothing afterwards.
func (s *standby) close() {
	if s == nil {
		return
	}
	s.promoting.Lock()
	defer s.promoting.Unlock()
	s.closed = true
	s.replica.Load().Stop()
	s.file.standby.Store(nil)
}

// Path returns where the directory's file is.
func (s *standby) Path() string { return s.file.single.Path() }

// Use gives the follower the database. What it has done is in the maps when it lets go.
func (s *standby) Use(ctx context.Context) (db *fenec.DB, release func(), err error) {
	s.mu.Lock()
	db, done, err := s.file.single.Use(ctx)
	if err != nil {
		s.mu.Unlock()
		return nil, nil, err
	}
	return db, sync.OnceFunc(func() {
		defer s.mu.Unlock()
		defer done()
		s.catcher.catchUp(db)
	}), nil
}

// Replace puts an image in the place of the database, and what it holds in the maps.
func (s *standby) Replace(ctx context.Context, a *fenec.Arrival, keep bool) (kept string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, err = s.file.single.Replace(ctx, a, keep); err != nil {
		return kept, err
	}
	return kept, s.file.use(func(db *fenec.DB) error {
		s.catcher.catchUp(db)
		return nil
	})
}

func (s *standby) status() (status mirror.ReplicaStatus, ok bool) {
	if !s.router.follows() {
		return status, false
	}
	return s.replica.Load().Status(), true
}

// follows reports whether the router's directory follows another router's.
func (rt *Router) follows() bool { return rt.directory.halted.follows.Load() }

// Promote has a router that follows another take its place: its directory takes changes
// from now on, and so the router moves, creates and grants leases as any other. Whoever
// promotes it sees to it that the other has stopped, or begins to follow this one.
//
// It fails with fenec.ErrNotReplica if the router does not follow, and with
// fenec.ErrIncomplete if it has never had the whole directory. After any other error it
// can be called again.
func (rt *Router) Promote(ctx context.Context) error {
	if rt.standby == nil {
		return fenec.ErrNotReplica
	}
	_, err := rt.standby.promote(ctx, false)
	return err
}

func (s *standby) promote(ctx context.Context, force bool) (h replication.History, err error) {
	s.promoting.Lock()
	defer s.promoting.Unlock()
	switch {
	case s.closed:
		return h, ErrClosed
	case !s.router.follows():
		return h, fenec.ErrNotReplica
	}
	s.replica.Load().Stop()
	if err := s.file.use(func(db *fenec.DB) error {
		h, err = s.fork(ctx, db, force)
		return err
	}); err != nil {
		return h, errors.Join(err, s.start())
	}
	s.mu.Lock()
	s.catcher.keys = nil // which take up room, and follow nothing any more
	s.mu.Unlock()
	s.file.source.Load().Restart("the router was promoted")
	s.router.takesOver()
	s.router.logf("promoted: the directory takes changes from number %d on, in history %v", h.Lineage[len(h.Lineage)-1].From, h.Lineage.Current())
	return h, nil
}

// fork makes the file a primary's, with all its collections. It may have been forked by a
// promotion that failed later.
func (s *standby) fork(ctx context.Context, db *fenec.DB, force bool) (replication.History, error) {
	if err := mirror.Promotion(db.Path()).Keep(s.file.opts.Follow); err != nil {
		return replication.History{}, err
	}
	h, err := db.Promote(ctx, force)
	if err != nil && !errors.Is(err, fenec.ErrNotReplica) {
		return h, err
	}
	return db.History(), (&fileStore{db}).createCollections()
}

// takesOver has the router change what it only looked at before.
func (rt *Router) takesOver() {
	rt.directory.arrive()
	rt.takeCharge()
}

// arrive has the directory take changes.
func (d *Directory) arrive() {
	d.change.Lock()
	defer d.change.Unlock()
	d.arrived.Store(true)
	d.halted.follows.Store(false)
}
