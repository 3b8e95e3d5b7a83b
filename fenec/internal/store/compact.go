package store

import (
	"context"
	"errors"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

const (
	// nearEnough is how many bytes of folds a compaction leaves to be caught up
	// with while no fold can begin.
	nearEnough = 1 << 20
	// maxChase bounds how often it tries to come that near.
	maxChase = 8
)

// Compact folds what every open snapshot has already seen, and rewrites the
// base without its free pages. Reads, writes and folds go on meanwhile, and other
// compactions wait, until their contexts end.
func (s *Store) Compact(ctx context.Context) error {
	if err := s.compacting.LockBefore(ctx); err != nil {
		return err
	}
	defer s.compacting.Unlock()
	c, err := s.beginCompaction(ctx)
	if c == nil || err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.background.life, cancel)() // when the store is closed
	err = s.copyAndFollow(ctx, c)
	s.folding.Lock()
	defer s.folding.Unlock()
	if s.background.life.Err() != nil {
		err = ErrClosed
	}
	if err == nil {
		err = s.openAndWell()
	}
	if err != nil {
		c.Cancel()
		return err
	}
	s.opts.Step("compact: install")
	if err := c.Install(); err != nil {
		if errors.Is(err, base.ErrUncertain) {
			return s.fail(err)
		}
		return err
	}
	s.background.compactions.Add(1)
	return nil
}

// beginCompaction begins one, unless the store is in memory or ctx ends before.
func (s *Store) beginCompaction(ctx context.Context) (*base.Compaction, error) {
	if err := s.folding.LockBefore(ctx); err != nil {
		return nil, err
	}
	defer s.folding.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.openAndWell(); err != nil {
		return nil, err
	}
	if err := s.foldSeenLocked(); err != nil || s.path == "" {
		return nil, err
	}
	s.opts.Step("compact")
	return s.base.BeginCompaction()
}

// copyAndFollow copies the base, and then what is folded meanwhile, until little
// of that is left.
func (s *Store) copyAndFollow(ctx context.Context, c *base.Compaction) error {
	if err := c.Copy(ctx); err != nil {
		return err
	}
	s.opts.Step("compact: copied")
	for range maxChase {
		n, err := c.CatchUp()
		if err != nil {
			return err
		}
		if n < nearEnough {
			break
		}
	}
	return ctx.Err()
}
