package tenant

import (
	"context"
	"iter"

	"github.com/fenec-go/fenecdb/fenec"
)

// statements are what may be asked of a database and of a session.
type statements interface {
	Query(ctx context.Context, text string, args ...any) (*fenec.Result, error)
	Exec(ctx context.Context, text string, args ...any) (int, error)
	Batch(ctx context.Context, stmts []fenec.Statement) ([]*fenec.Result, error)
	Load(ctx context.Context, text string, rows iter.Seq2[[]any, error]) (int, error)
	Rows(ctx context.Context, text string, args ...any) iter.Seq2[fenec.Row, error]
	Update(ctx context.Context, fn func(*fenec.Tx) error) (uint64, error)
	View(ctx context.Context, fn func(*fenec.Snapshot) error) error
	Subscribe(ctx context.Context, shape fenec.Shape, since uint64) (*fenec.Subscription, error)
	Collections() []string
}

// surface asks for as long as the handle is not released.
type surface struct {
	h  *handle
	on statements
}

// Session is a tenant's database as a policy shows it, for as long as its handle is
// not released.
type Session struct{ surface }

// Session returns the database as p shows it to whom the values belong, as
// fenec.DB.Session does.
func (h *handle) Session(p *fenec.Policy, values ...any) (*Session, error) {
	if err := h.begin(); err != nil {
		return nil, err
	}
	defer h.end()
	s, err := h.live.db.Session(p, values...)
	if err != nil {
		return nil, err
	}
	return &Session{surface{h, s}}, nil
}

// Query runs one statement as fenec.DB.Query does.
func (s *surface) Query(ctx context.Context, text string, args ...any) (*fenec.Result, error) {
	if err := s.h.begin(); err != nil {
		return nil, err
	}
	defer s.h.end()
	res, err := s.on.Query(ctx, text, args...)
	if err == nil {
		s.h.did(res)
	}
	s.h.failed(err)
	return res, err
}

// Exec runs one statement as fenec.DB.Exec does.
func (s *surface) Exec(ctx context.Context, text string, args ...any) (int, error) {
	if err := s.h.begin(); err != nil {
		return 0, err
	}
	defer s.h.end()
	n, err := s.on.Exec(ctx, text, args...)
	s.h.wrote(n)
	s.h.failed(err)
	return n, err
}

// Batch runs statements as fenec.DB.Batch does.
func (s *surface) Batch(ctx context.Context, stmts []fenec.Statement) ([]*fenec.Result, error) {
	if err := s.h.begin(); err != nil {
		return nil, err
	}
	defer s.h.end()
	list, err := s.on.Batch(ctx, stmts)
	if err == nil {
		s.h.did(list...)
	}
	s.h.failed(err)
	return list, err
}

// Load runs a statement for many rows as fenec.DB.Load does.
func (s *surface) Load(ctx context.Context, text string, rows iter.Seq2[[]any, error]) (int, error) {
	if err := s.h.begin(); err != nil {
		return 0, err
	}
	defer s.h.end()
	n, err := s.on.Load(ctx, text, rows)
	s.h.wrote(n)
	s.h.failed(err)
	return n, err
}

// Rows gives the rows of a get as fenec.DB.Rows does.
func (s *surface) Rows(ctx context.Context, text string, args ...any) iter.Seq2[fenec.Row, error] {
	return func(yield func(fenec.Row, error) bool) {
		if err := s.h.begin(); err != nil {
			yield(fenec.Row{}, err)
			return
		}
		defer s.h.end()
		n := 0
		defer func() { s.h.read(n) }()
		for row, err := range s.on.Rows(ctx, text, args...) {
			if err == nil {
				n++
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// Update calls fn with a transaction as fenec.DB.Update does.
func (s *surface) Update(ctx context.Context, fn func(*fenec.Tx) error) (uint64, error) {
	if err := s.h.begin(); err != nil {
		return 0, err
	}
	defer s.h.end()
	seq, err := s.on.Update(ctx, fn)
	s.h.failed(err)
	return seq, err
}

// View calls fn with a snapshot as fenec.DB.View does.
func (s *surface) View(ctx context.Context, fn func(*fenec.Snapshot) error) error {
	if err := s.h.begin(); err != nil {
		return err
	}
	defer s.h.end()
	return s.on.View(ctx, fn)
}

// Collections returns names as fenec.DB.Collections does; none once the handle is
// released.
func (s *surface) Collections() []string {
	if s.h.begin() != nil {
		return nil
	}
	defer s.h.end()
	return s.on.Collections()
}

// Seq returns the sequence of the last write; 0 once the handle is released.
func (h *handle) Seq() uint64 {
	if h.begin() != nil {
		return 0
	}
	defer h.end()
	return h.live.db.Seq()
}

// Sync returns once every write answered before the call is on disk.
func (h *handle) Sync(ctx context.Context) error {
	if err := h.begin(); err != nil {
		return err
	}
	defer h.end()
	err := h.live.db.Sync(ctx)
	h.failed(err)
	return err
}

// Stats returns the database's figures.
func (h *handle) Stats() (fenec.Stats, error) {
	if err := h.begin(); err != nil {
		return fenec.Stats{}, err
	}
	defer h.end()
	return h.live.db.Stats()
}

// Changes returns what happened after a sequence as fenec.DB.Changes does.
func (h *handle) Changes(ctx context.Context, since uint64, most int) ([]fenec.Change, uint64, error) {
	if err := h.begin(); err != nil {
		return nil, 0, err
	}
	defer h.end()
	return h.live.db.Changes(ctx, since, most)
}

// WaitChange waits as fenec.DB.WaitChange does, and holds no place meanwhile.
func (h *handle) WaitChange(ctx context.Context, since uint64, collections ...string) error {
	return h.waiting(ctx, func() error { return h.live.db.WaitChange(ctx, since, collections...) })
}

// WaitSeq waits as fenec.DB.WaitSeq does, and holds no place meanwhile.
func (h *handle) WaitSeq(ctx context.Context, seq uint64) error {
	return h.waiting(ctx, func() error { return h.live.db.WaitSeq(ctx, seq) })
}
