package fenec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/role"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// DB is an open database. Its methods are safe for concurrent use.
type DB struct {
	store   *store.Store
	history *history.History
	role    *role.Role
	feed    *feed.Feed
	graphs  *graphs.Set // of vector indexes
	clock   func() time.Time
	limit   atomic.Pointer[func(Block) error]
	fence   atomic.Pointer[func() error]
	confirm atomic.Pointer[func(context.Context, uint64) error]
	own     Session // of its methods, which may do everything

	maxMemory int64 // in bytes; 0 for no bound
	sweeper   sweeper
	functions map[string]expr.Function
	hook      atomic.Pointer[func(*RowChange) error]
	watch     watch                 // the subscriptions
	latest    latest                // when collections were last written
	stmts     stmtCache[string]     // of the own session
	guarded   stmtCache[policyText] // of all others

	// catalogs are the definitions at the sequences that open snapshots stand
	// at, oldest first: replaced as a whole by blocks that change them.
	catalogs atomic.Pointer[[]catalogVersion]

	// figures is guarded by the store's write lock.
	figures table.Cache
}

// catalogVersion is a catalog with the first sequence it holds at.
type catalogVersion struct {
	from    uint64
	catalog *catalog.Catalog
}

// Open opens the database at path, making an empty one if there is none, and
// brings it to the last write that is whole on disk. An empty path is as
// OpenMemory. The file is locked until Close: ErrInUse says that somebody else
// has it, ErrCorrupt that it is damaged. What Open costs does not grow with
// the file.
func Open(path string, opts Options) (*DB, error) {
	db := &DB{clock: opts.Clock, maxMemory: opts.MaxMemory, role: role.New(), history: history.New(opts.history()), feed: feed.New(opts.FeedBytes)}
	if db.clock == nil {
		db.clock = time.Now
	}
	db.own.db = db
	var err error
	if db.functions, err = functions(opts.Functions); err != nil {
		return nil, err
	}
	so, err := opts.store()
	if err != nil {
		return nil, err
	}
	db.figures.History = db.history
	if db.feed.On() {
		db.figures.Feed = db.feed
	}
	replayer := table.Replayer{History: db.history, Feed: db.figures.Feed}
	db.graphs = graphs.New(path, func() (*base.Tx, error) { return db.store.Base() }, db.catalogNow,
		graphs.Folds{Soon: func() { db.store.FoldSoon() }, WhenIdle: func() { db.store.FoldWhenIdle() }})
	so.Owners, so.Merger, so.Replay = []store.Owner{db.history, db.feed, db.graphs, db.role}, table.Merger{}, replayer.Replay
	so.TakeNote, so.Follows = db.role.Take, func() bool { return db.History().Following }
	so.Load = func(v *store.View) error {
		return errors.Join(replayer.Load(v), db.history.Load(v), db.feed.Load(v), db.role.Load(v))
	}
	if db.store, err = store.Open(path, so); err != nil {
		return nil, public(err)
	}
	db.catalogs.Store(&[]catalogVersion{{0, replayer.Catalog()}})
	db.history.Opened(db.store.Seq())
	db.watch.init(db.history.Last, db.store.Seq)
	db.latest.init(db.store.Seq())
	db.sweeper.init(db, opts.SweepInterval)
	if err := db.abandonBuilds(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OpenMemory opens an empty database in memory. It is gone when closed.
func OpenMemory(opts Options) (*DB, error) { return Open("", opts) }

// Close waits for the running statement, ends every read and subscription, folds
// the log into the file (unless Options.NoCheckpoint) and closes it. Everything
// afterwards fails with ErrClosed; closing again does nothing.
func (db *DB) Close() error {
	db.quit()
	return public(db.store.Close())
}

// CloseUnfolded is as Close with Options.NoCheckpoint: it takes no longer than to
// bring the log to disk, and the next Open has to replay it.
func (db *DB) CloseUnfolded() error {
	db.quit()
	return public(db.store.CloseUnfolded())
}

// quit ends what would use the store.
func (db *DB) quit() {
	db.watch.close()
	db.sweeper.close()
	db.graphs.Close()
}

// Path returns the database's path, "" in memory.
func (db *DB) Path() string { return db.store.Path() }

// Seq returns the sequence of the last write. It counts documents written or
// deleted and changes of the schema, and never goes back.
func (db *DB) Seq() uint64 { return db.store.Seq() }

// catalogAt returns the definitions at seq, at which a snapshot is open or the
// caller holds the write lock.
func (db *DB) catalogAt(seq uint64) *catalog.Catalog {
	versions := *db.catalogs.Load()
	for i := len(versions) - 1; i > 0; i-- {
		if versions[i].from <= seq {
			return versions[i].catalog
		}
	}
	return versions[0].catalog
}

// catalogNow returns the definitions of the last block; none while the database is
// being opened.
func (db *DB) catalogNow() *catalog.Catalog {
	versions := db.catalogs.Load()
	if versions == nil {
		return new(catalog.Catalog)
	}
	return (*versions)[len(*versions)-1].catalog
}

// publishCatalog makes cat the definitions from seq on and forgets those that
// no snapshot stands at any more. The write lock is held.
func (db *DB) publishCatalog(seq uint64, cat *catalog.Catalog) {
	versions := *db.catalogs.Load()
	oldest := db.store.Oldest()
	for len(versions) > 1 && versions[1].from <= oldest {
		versions = versions[1:]
	}
	versions = append(slices.Clip(versions), catalogVersion{seq, cat})
	db.catalogs.Store(&versions)
	db.sweeper.arm(cat)
}

// Collections returns the names of all collections, sorted.
func (db *DB) Collections() []string { return db.own.Collections() }

// Sync returns once every write answered before the call is on disk, whatever
// the policy.
func (db *DB) Sync(ctx context.Context) error { return public(db.store.Sync(ctx)) }

// Checkpoint folds into the file what every open read has already seen, and
// drops the log of it.
func (db *DB) Checkpoint(ctx context.Context) error { return public(db.store.Checkpoint(ctx)) }

// Compact folds into the file what every open read has already seen, and
// rewrites it without its free space.
func (db *DB) Compact(ctx context.Context) error { return public(db.store.Compact(ctx)) }

// errNoPath is returned where an empty path does not stand for memory.
var errNoPath = fmt.Errorf("the path is empty: %w", fs.ErrNotExist)

// Files returns the paths of all that a closed database at path may consist of: the
// file itself first, then its logs and what a crash may have left beside it. None need
// be there, and none but the first is once the database was closed whole: whoever
// gives the database another name then renames that one file.
func Files(path string) []string { return store.Files(path) }

// Remove deletes the closed database at path with everything that belongs to
// it. It fails with fs.ErrNotExist if there is none and with ErrInUse if it is
// open.
func Remove(path string) error {
	if path == "" {
		return errNoPath
	}
	return public(store.Remove(path))
}

// SetAside gives the closed database at path a second name on the same file system, durably:
// whatever takes the place of the first then leaves the database there. What had that name
// is gone. Until one of the names is given to something else, nobody is to open the second.
func SetAside(path, to string) error {
	if path == "" || to == "" {
		return errNoPath
	}
	return public(store.SetAside(path, to))
}

// Check verifies the closed database at path and says what is wrong: pages,
// logs, checksums, every index against the rows, the links of every graph, every
// figure against a recount. It changes nothing. What is damaged matches ErrCorrupt; a database
// that is open is ErrInUse, and one that is not there fs.ErrNotExist.
func Check(path string) error {
	if path == "" {
		return errNoPath
	}
	var replayer table.Replayer
	opts := store.Options{Load: replayer.Load, Replay: replayer.Replay, TakeNote: role.New().Take}
	return public(store.Check(path, opts, func(v *store.View) error {
		return errors.Join(table.Verify(v), graphs.Verify(v, replayer.Catalog()), history.Verify(v), feed.Verify(v), role.Verify(v))
	}))
}
