package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// What is on disk is told as it gets there, whatever brings it there.
func TestSyncedSeq(t *testing.T) {
	for name, c := range map[string]struct {
		sync  store.Sync
		bring func(s *store.Store) error
	}{
		"sync":       {store.SyncOff, func(s *store.Store) error { return s.Sync(ctx) }},
		"checkpoint": {store.SyncOff, func(s *store.Store) error { return s.Checkpoint(ctx) }},
		"always":     {store.SyncAlways, func(*store.Store) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newDisk(t).open(t, store.Options{Sync: c.sync, Interval: time.Hour, IdleCheckpoint: time.Hour})
			require.Zero(t, s.SyncedSeq())
			for i := 1; i < 5; i++ {
				before := s.Seq()
				require.Equal(t, before, s.SyncedSeq())
				waited := make(chan error, 1)
				go func() { waited <- s.WaitSynced(ctx, before) }()
				write(t, s, counted(i, 10)...)
				if c.sync == store.SyncOff {
					require.Equal(t, before, s.SyncedSeq())
				}
				require.NoError(t, c.bring(s))
				require.NoError(t, <-waited)
				require.Equal(t, s.Seq(), s.SyncedSeq())
			}
		})
	}
}

// Numbers that were lost with an unclean end are on disk as far as anyone waits.
func TestSyncedSeqAfterAnUncleanEnd(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncAlways})
	write(t, s, counted(1, 10)...)
	again := d.kill(t).open(t, store.Options{Sync: store.SyncAlways})
	require.Greater(t, again.Seq(), s.Seq()+1000)
	require.Equal(t, again.Seq(), again.SyncedSeq())
	write(t, again, counted(2, 10)...)
	require.Equal(t, again.Seq(), again.SyncedSeq())
}

func TestWaitSyncedEnds(t *testing.T) {
	s := newDisk(t).open(t, store.Options{Sync: store.SyncOff, IdleCheckpoint: time.Hour})
	write(t, s, counted(1, 10)...)
	require.NoError(t, s.Sync(ctx))
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, s.WaitSynced(canceled, s.Seq()), context.Canceled)
	waited := make(chan error, 1)
	go func() { waited <- s.WaitSynced(ctx, s.Seq()) }()
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-waited, store.ErrClosed)
	require.ErrorIs(t, s.WaitSynced(ctx, 0), store.ErrClosed)

	s, err := store.Open("", store.Options{})
	require.NoError(t, err)
	go func() { waited <- s.WaitSynced(ctx, 0) }()
	write(t, s, counted(1, 10)...)
	require.NoError(t, <-waited, "in memory at once")
	require.NoError(t, s.Close())
}

// No wait misses its write, and no sequence is said to be on disk before readers
// see it.
func TestWaitSyncedBesideWriters(t *testing.T) {
	s := newDisk(t).open(t, store.Options{Sync: store.SyncAlways, FrontBytes: 1 << 16})
	const writes = 300
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range writes {
				_, err := tryWrite(s, op{1, "k", []byte("v")})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for seq := uint64(0); seq < 4*writes; seq = s.SyncedSeq() {
				if err := s.WaitSynced(ctx, seq); err != nil {
					t.Error(err)
					return
				}
				if synced := s.SyncedSeq(); synced > s.Seq() {
					t.Error(synced)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 4*writes, s.SyncedSeq())
}
