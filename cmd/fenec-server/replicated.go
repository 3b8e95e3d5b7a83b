package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// patience is how long requests have to let go of a database in whose place an image of its
// primary's is put, or that is closed.
const patience = 5 * time.Second

// replicated is the database of a file that others may follow, and that may follow another
// one itself.
type replicated struct {
	opts     replicasConfig
	instance string // names this copy among all
	log      *log.Logger
	single   *mirror.Single
	source   atomic.Pointer[mirror.Source] // of the database that is open
	ended    atomic.Bool                   // nothing is sent to replicas any more

	warm       func(*fenec.DB) (stop func())
	endWarming func() // of the database that is open; of who opens and closes it alone

	role    sync.Mutex                     // held while the role is changed
	replica atomic.Pointer[mirror.Replica] // nil for a primary
}

// openReplicated opens the file that the flags name, in the role that they and it say.
func openReplicated(cfg config, errorLog *log.Logger, warm func(*fenec.DB) (stop func())) (*replicated, error) {
	f := &replicated{opts: cfg.replicas, instance: rand.Text(), log: errorLog, warm: warm}
	cfg.db.FeedBytes = cfg.replicas.buffer
	var err error
	f.single, err = mirror.OpenSingle(cfg.file, mirror.SingleOptions{
		DB: cfg.db, Opened: f.opened, Closing: f.closing, Patience: patience,
	})
	if err != nil {
		return nil, err
	}
	if err := f.takePart(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// opened is called with the database whenever it has been opened.
func (f *replicated) opened(db *fenec.DB) error {
	source := mirror.NewSource(db, mirror.SourceOptions{
		Instance:  f.instance,
		Promote:   f.promote,
		Following: f.following,
		Held:      max(f.opts.held, 0),
		Reports:   f.opts.held >= 0,
		ErrorLog:  f.log,
	})
	db.SetConfirm(source.Confirm)
	f.source.Store(source)
	if f.ended.Load() {
		source.Close(closingText)
	}
	f.endWarming = f.warm(db)
	return nil
}

func (f *replicated) closing(*fenec.DB) {
	f.endWarming()
	f.source.Load().Close("the database is replaced or closed")
}

const closingText = "the server is being closed"

// endStreams ends what is sent to replicas, for good.
func (f *replicated) endStreams() {
	f.ended.Store(true)
	f.source.Load().Close(closingText)
}

// Close ends following and closes the database.
func (f *replicated) Close() error {
	f.ended.Store(true)
	f.role.Lock()
	defer f.role.Unlock()
	if r := f.replica.Load(); r != nil {
		r.Stop()
	}
	return f.single.Close()
}

// use gives the open database to fn.
func (f *replicated) use(fn func(db *fenec.DB) error) error {
	db, release, err := f.single.Use(context.Background())
	if err != nil {
		return err
	}
	defer release()
	return fn(db)
}

// follow begins to follow the primary.
func (f *replicated) follow() error {
	r, err := mirror.StartReplica(f.single, mirror.ReplicaOptions{
		Primary: f.opts.primary, Token: f.opts.token, Instance: f.instance, ErrorLog: f.log,
	})
	if err == nil {
		f.replica.Store(r)
	}
	return err
}

// following tells of the follower.
func (f *replicated) following() (status mirror.ReplicaStatus, ok bool) {
	if r := f.replica.Load(); r != nil {
		return r.Status(), true
	}
	return status, false
}

// pending reports whether the database follows a primary that it has neither been in touch
// with nor missed.
func (f *replicated) pending() bool {
	st, ok := f.following()
	return ok && st.LastContactMs < 0 && st.Reconnects == 0
}

// promote makes a replica a primary while it is served. Neither a client that goes away nor
// a crash leaves it in between.
func (f *replicated) promote(_ context.Context, force bool) (h replication.History, err error) {
	f.role.Lock()
	defer f.role.Unlock()
	r := f.replica.Load()
	switch {
	case f.ended.Load():
		return h, fenec.ErrClosed
	case r == nil:
		return h, fenec.ErrNotReplica
	}
	r.Stop()
	err = f.use(func(db *fenec.DB) (err error) {
		// First, so that no restart with the flags of today has it follow again.
		if err = mirror.Promotion(db.Path()).Keep(f.opts.primary); err == nil {
			h, err = db.Promote(context.Background(), force)
		}
		return err
	})
	if err != nil {
		return h, errors.Join(err, f.follow())
	}
	f.replica.Store(nil)
	f.log.Printf("replication: promoted: it takes writes of its own from number %d on, in history %v", h.Lineage[len(h.Lineage)-1].From, h.Lineage.Current())
	return h, nil
}

// open gives the open database to a request.
func (f *replicated) open(ctx context.Context) (*serve.Use, *serve.Answer) {
	db, ended, release, err := f.single.Hold(ctx)
	if err != nil {
		a := serve.Error(err)
		return nil, &a
	}
	return &serve.Use{
		DB: db, Release: release, Ended: ended, Refuse: refuse,
		Why: "an image of the primary's database takes the place of this one, or it is closed",
	}, nil
}

// figures returns what there is of replication as figures.
func (f *replicated) figures() []serve.Figure {
	st, follows := f.following()
	contact := int64(0)
	if follows {
		contact = max(st.LastContactMs, 0) / 1000
	}
	return []serve.Figure{
		{Name: "fenec_replicas", Help: "Replicas that are in touch.", Value: int64(len(f.source.Load().Peers()))},
		{Name: "fenec_replica_connected", Help: "1 if it follows a primary and is in touch with it.", Value: one(st.Connected)},
		{Name: "fenec_replica_behind", Help: "Changes that it lacks, as far as is known.", Value: int64(st.Behind)},
		{Name: "fenec_replica_last_contact_seconds", Help: "Since the primary was heard of.", Value: contact},
		{Name: "fenec_replica_images_total", Help: "Images taken.", Value: int64(st.Images)},
		{Name: "fenec_replica_reconnects_total", Help: "Streams that ended.", Value: int64(st.Reconnects)},
		{Name: "fenec_replica_diverged_total", Help: "How often it was found to differ from its primary's database.", Value: int64(st.Diverged)},
	}
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
