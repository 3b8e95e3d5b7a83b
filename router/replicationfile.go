package router

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// DirectoryOptions say what part the directory's file takes in replication. The zero value
// is none.
type DirectoryOptions struct {
	// Feed is how much room the latest changes take up that are kept for routers that
	// follow this one, in bytes. Zero keeps none, and then no router can.
	Feed int64
	// Follow is the router whose directory this one follows, as http://host:port: its
	// primary. Until it is promoted, the router forwards by that directory and changes
	// nothing. A file that has been a primary's becomes a follower's, and loses what its new
	// primary does not have; but one that was promoted in the place of that primary, by
	// Router.Promote, stays a primary's. Empty is none.
	Follow string
	// Promote has the directory take changes though the file has followed another router's.
	// One that has been a primary's takes the place of all that have gone on from it: of a
	// router that was promoted, and is lost for good, or has given up its history.
	Promote bool
	// ErrorLog is told what happens to streams of changes. nil is the standard logger of
	// package log.
	ErrorLog *log.Logger

	history int // changes that are kept for whoever reads them entry by entry, for tests; 0 is many
}

// directoryFile is the store of a directory: a file that others can follow, and in whose
// place an image of another router's may be put while look-ups go on. All methods are
// safe for concurrent use.
type directoryFile struct {
	opts     DirectoryOptions
	instance string // names this copy among all
	single   *mirror.Single
	source   atomic.Pointer[mirror.Source] // of the database that is open
	standby  atomic.Pointer[standby]       // that has it follow; nil for none
}

// openFile opens the database at path, "" being one in memory, and creates the
// collections that it lacks, unless it follows.
func openFile(path string, opts DirectoryOptions) (*directoryFile, error) {
	if opts.Follow != "" {
		if opts.Promote {
			return nil, errors.New("it either follows or is promoted")
		}
		if path == "" {
			return nil, errors.New("a directory in memory follows none")
		}
		var err error
		if opts.Follow, err = mirror.ParsePrimary(opts.Follow); err != nil {
			return nil, err
		}
	}
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.Default()
	}
	f := &directoryFile{opts: opts, instance: rand.Text()}
	single, err := mirror.OpenSingle(path, mirror.SingleOptions{
		DB:      fenec.Options{Sync: fenec.SyncAlways, FeedBytes: opts.Feed, HistoryEntries: opts.history},
		Opened:  f.opened,
		Closing: func(*fenec.DB) { f.source.Load().Close("the router closes its directory") },
	})
	if err != nil {
		return nil, err
	}
	f.single = single
	if err := f.use(f.takePart); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *directoryFile) opened(db *fenec.DB) error {
	source := mirror.NewSource(db, mirror.SourceOptions{
		Instance: f.instance, Promote: f.promote, Following: f.following, Reports: true, ErrorLog: f.opts.ErrorLog,
	})
	db.SetConfirm(source.Confirm)
	f.source.Store(source)
	return nil
}

// takePart makes the file what the options say that it is.
func (f *directoryFile) takePart(db *fenec.DB) error {
	ctx := context.Background()
	follows, note := db.History().Following, mirror.Promotion(db.Path())
	from := ""
	if f.opts.Follow != "" {
		var err error
		if from, err = note.From(); err != nil {
			return err
		}
	}
	switch {
	case f.opts.Follow != "" && follows:
		return note.Forget()
	case f.opts.Follow != "" && from == f.opts.Follow:
		f.opts.ErrorLog.Printf("directory %q: it was promoted in the place of %s and STAYS THE PRIMARY'S: to have it follow there again, "+
			"and give up what that one does not have, remove %s", db.Path(), from, note.Path())
	case f.opts.Follow != "":
		if err := f.beginToFollow(ctx, db); err != nil {
			return err
		}
		return note.Forget()
	case follows && !f.opts.Promote:
		return fmt.Errorf("%w: --replica-of has it go on, --promote has it take changes", ErrFollows)
	case follows:
		if err := f.force(ctx, db); err != nil {
			return err
		}
	case f.opts.Promote && len(db.History().Lineage) > 0:
		h, err := db.Fork(ctx)
		if err != nil {
			return err
		}
		f.opts.ErrorLog.Printf("directory %q: it takes the place of all that have gone on from it, in history %v", db.Path(), h.Lineage.Current())
	}
	if f.opts.Feed > 0 {
		if _, err := db.BeginHistory(ctx); err != nil {
			return err
		}
	}
	return (&fileStore{db}).createCollections()
}

// force promotes the file, whatever it may lack.
func (f *directoryFile) force(ctx context.Context, db *fenec.DB) error {
	if db.History().Incomplete {
		f.opts.ErrorLog.Printf("directory %q: it is promoted though it had not caught up with the router it followed", db.Path())
	}
	_, err := db.Promote(ctx, true)
	return err
}

// beginToFollow makes the file one that follows. Nobody ever had a copy of one without a
// history: what it holds would be lost, so it has to be empty.
func (f *directoryFile) beginToFollow(ctx context.Context, db *fenec.DB) error {
	if h := db.History(); len(h.Lineage) > 0 {
		f.opts.ErrorLog.Printf("directory %q: it was a primary's, of history %v, and follows another router from now on: "+
			"those of its changes up to number %d that the other does not have are GIVEN UP", db.Path(), h.Lineage.Current(), db.LastWrite())
		return db.Follow(ctx)
	}
	kept, err := (&fileStore{db}).load()
	if err != nil {
		return err
	}
	if len(kept.nodes) > 0 || len(kept.tenants) > 0 {
		return fmt.Errorf("%w: %d nodes and %d tenants", ErrNeverReplicated, len(kept.nodes), len(kept.tenants))
	}
	return db.Follow(ctx)
}

// use gives the open database to fn.
func (f *directoryFile) use(fn func(db *fenec.DB) error) error {
	db, release, err := f.single.Use(context.Background())
	if err != nil {
		return err
	}
	defer release()
	return fn(db)
}

func (f *directoryFile) load() (c *contents, err error) {
	err = f.use(func(db *fenec.DB) error {
		c, err = (&fileStore{db}).load()
		return err
	})
	return c, err
}

func (f *directoryFile) write(change func(rows) error) error {
	return f.use(func(db *fenec.DB) error { return (&fileStore{db}).write(change) })
}

// lineage returns nothing of a file that is closed.
func (f *directoryFile) lineage() (l replication.Lineage) {
	_ = f.use(func(db *fenec.DB) error {
		l = db.History().Lineage
		return nil
	})
	return l
}

func (f *directoryFile) settled() (history string, err error) {
	err = f.use(func(db *fenec.DB) error {
		history, err = (&fileStore{db}).settled()
		return err
	})
	return history, err
}

func (f *directoryFile) close() error { return f.single.Close() }

// follows reports whether the file follows another router's.
func (f *directoryFile) follows() (follows bool) {
	_ = f.use(func(db *fenec.DB) error {
		follows = db.History().Following
		return nil
	})
	return follows
}

// promote has the router take changes whose directory this is.
func (f *directoryFile) promote(ctx context.Context, force bool) (replication.History, error) {
	if s := f.standby.Load(); s != nil {
		return s.promote(ctx, force)
	}
	return replication.History{}, fenec.ErrNotReplica
}

func (f *directoryFile) following() (status mirror.ReplicaStatus, ok bool) {
	if s := f.standby.Load(); s != nil {
		return s.status()
	}
	return status, false
}
