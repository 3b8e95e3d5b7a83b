package mirror

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// SingleOptions say how the database of a Single is opened.
type SingleOptions struct {
	DB fenec.Options

	// Opened is called with the database whenever it has been opened, before anybody uses
	// it, and Closing before it is closed, when nobody does any more. An error of Opened
	// closes it. Both may be nil.
	Opened  func(db *fenec.DB) error
	Closing func(db *fenec.DB)

	// Patience is how long those who use the database are waited for when it is replaced or
	// closed. Who has not let go by then finds it closed. Default: as long as it takes.
	Patience time.Duration
}

// Single is a Copy that is one file and can be used by others too, who let go of it when
// it is replaced. Its methods are safe for concurrent use.
type Single struct {
	path string
	opts SingleOptions

	mu     sync.Mutex    // guards the fields below
	db     *fenec.DB     // nil while it is not open
	uses   *int          // that have not been released, of this opening of it
	ending chan struct{} // closed when those who use it are to let go
	idle   chan struct{} // closed when the last of them has; nil while nobody waits
	ready  chan struct{} // closed when the database may be used again; nil if it may
	closed bool
}

// OpenSingle opens the database at path.
func OpenSingle(path string, opts SingleOptions) (*Single, error) {
	s := &Single{path: path, opts: opts, ending: make(chan struct{})}
	if err := s.openLocked(); err != nil {
		return nil, err
	}
	return s, nil
}

// Path returns the path of the database.
func (s *Single) Path() string { return s.path }

// Use gives the open database until release is called, which must be soon.
func (s *Single) Use(ctx context.Context) (db *fenec.DB, release func(), err error) {
	db, _, release, err = s.Hold(ctx)
	return db, release, err
}

// Hold gives the open database until release is called, which must be soon after ended is
// closed. It waits for a database that is being replaced.
func (s *Single) Hold(ctx context.Context) (db *fenec.DB, ended <-chan struct{}, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.ready != nil {
		ready := s.ready
		s.mu.Unlock()
		select {
		case <-ready:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
	}
	if s.closed {
		return nil, nil, nil, fenec.ErrClosed
	}
	if s.db == nil { // it could not be opened after it was replaced
		if err := s.openLocked(); err != nil {
			return nil, nil, nil, err
		}
	}
	uses := s.uses
	*uses++
	return s.db, s.ending, sync.OnceFunc(func() { s.release(uses) }), nil
}

func (s *Single) release(uses *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*uses--
	if *uses == 0 && uses == s.uses && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// Replaced is what the path of a database ends in that an image has taken the place of.
const Replaced = ".replaced"

// Replace puts an image in the place of the database. Those who use it are told to let go,
// and waited for. What is to be kept is, until it is the next one's turn, at the path that
// ends in Replaced.
func (s *Single) Replace(ctx context.Context, a *fenec.Arrival, keep bool) (kept string, err error) {
	if err := s.takeAway(ctx); err != nil {
		return "", errors.Join(err, a.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.giveBackLocked()
	err = s.closeLocked()
	if keep {
		kept = s.path + Replaced
		if failed := fenec.SetAside(s.path, kept); failed != nil {
			return "", errors.Join(err, failed, a.Close(), s.openLocked())
		}
	}
	return kept, errors.Join(err, a.Replace(), a.Close(), s.openLocked())
}

// Close closes the database when those who use it have let go.
func (s *Single) Close() error {
	err := s.takeAway(context.Background())
	if errors.Is(err, fenec.ErrClosed) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.giveBackLocked()
	s.closed = true
	return s.closeLocked()
}

// takeAway makes the database nobody's but the caller's, or that of those whose patience is
// over.
func (s *Single) takeAway(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return fenec.ErrClosed
	case s.ready != nil:
		return errReplacing
	}
	s.ready = make(chan struct{})
	close(s.ending)
	if *s.uses == 0 {
		return nil
	}
	idle := make(chan struct{})
	s.idle = idle
	s.mu.Unlock()
	late := s.await(ctx, idle)
	s.mu.Lock()
	s.idle = nil
	if *s.uses == 0 || late {
		return nil
	}
	s.giveBackLocked()
	return ctx.Err()
}

// await waits until idle is closed or ctx ends, and reports whether the patience was over
// before.
func (s *Single) await(ctx context.Context, idle <-chan struct{}) (late bool) {
	var over <-chan time.Time
	if s.opts.Patience > 0 {
		timer := time.NewTimer(s.opts.Patience)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-idle:
	case <-over:
		return true
	case <-ctx.Done():
	}
	return false
}

// errReplacing is returned beside a Replace that runs.
var errReplacing = errors.New("the database is being replaced")

// giveBackLocked lets the database be used.
func (s *Single) giveBackLocked() {
	close(s.ready)
	s.ready, s.ending = nil, make(chan struct{})
}

func (s *Single) openLocked() error {
	db, err := fenec.Open(s.path, s.opts.DB)
	if err != nil {
		return err
	}
	if s.opts.Opened != nil {
		if err := s.opts.Opened(db); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	s.db, s.uses = db, new(int)
	return nil
}

func (s *Single) closeLocked() error {
	if s.db == nil {
		return nil
	}
	if s.opts.Closing != nil {
		s.opts.Closing(s.db)
	}
	db := s.db
	s.db, s.uses = nil, new(int)
	return db.Close()
}
