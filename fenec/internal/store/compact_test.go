package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// TestCompactWaits has a compaction wait for another, and for a fold: no longer
// than its context.
func TestCompactWaits(t *testing.T) {
	for stop, busy := range map[string]func(*store.Store) error{
		"compact: copied": func(s *store.Store) error { return s.Compact(ctx) },
		"compact":         func(s *store.Store) error { return s.Compact(ctx) },
		"fold":            func(s *store.Store) error { return s.Checkpoint(ctx) },
	} {
		t.Run(stop, func(t *testing.T) {
			var once atomic.Bool
			reached, goOn := make(chan struct{}), make(chan struct{})
			s := newDisk(t).open(t, store.Options{IdleCheckpoint: time.Hour, Step: func(name string) {
				if name == stop && once.CompareAndSwap(false, true) {
					close(reached)
					<-goOn
				}
			}})
			write(t, s, counted(1, 10)...)
			done := make(chan error, 1)
			go func() { done <- busy(s) }()
			<-reached

			gaveUp := make(chan error, 1)
			go func() {
				short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
				defer cancel()
				gaveUp <- s.Compact(short)
			}()
			select {
			case err := <-gaveUp:
				require.ErrorIs(t, err, context.DeadlineExceeded)
			case <-time.After(10 * time.Second):
				t.Error("it waits on though its context has ended")
			}
			close(goOn)
			require.NoError(t, <-done)

			before := s.Stats().Compactions
			ended, cancel := context.WithCancel(ctx)
			cancel()
			require.ErrorIs(t, s.Compact(ended), context.Canceled)
			require.Equal(t, before, s.Stats().Compactions)
			require.NoError(t, s.Compact(ctx))
			require.Equal(t, before+1, s.Stats().Compactions)
			require.NoError(t, s.Close())
		})
	}
}
