package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

// Writers that wait for the disk share their flushes.
func TestGroupCommit(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncAlways, NoCheckpoint: true})
	write(t, s, op{1, "first", []byte{1}})

	const writers = 32
	gate := waltest.NewGate(waltest.Sync)
	d.faults.SetHook(gate.Hook)
	errs := make(chan error, writers)
	for i := range writers {
		go func() {
			_, err := tryWrite(s, op{1, fmt.Sprint("k", i), []byte{1}})
			errs <- err
		}()
	}
	gate.Wait()
	require.Eventually(t, func() bool { return s.Seq() == writers+1 }, time.Minute, time.Millisecond)
	require.Empty(t, errs, "nobody is answered before the disk has it")
	gate.Open()
	for range writers {
		require.NoError(t, <-errs)
	}
	require.LessOrEqual(t, d.faults.Count(waltest.Sync), 2)
	require.Equal(t, s.Seq(), s.Stats().SyncedSeq)
}

// Every write that was acknowledged is on disk at that moment.
func TestAcknowledgedIsOnDisk(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncAlways})
	const writers, each = 8, 40
	errs := make(chan error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			var err error
			for n := 0; n < each && err == nil; n++ {
				var ticket store.Ticket
				ticket, err = tryWrite(s, op{1, fmt.Sprint(i, "-", n), []byte{1}})
				if synced := s.Stats().SyncedSeq; err == nil && synced < ticket.To {
					err = fmt.Errorf("acknowledged %d, on disk is %d", ticket.To, synced)
				}
				if n%10 == 9 && err == nil {
					err = s.Checkpoint(ctx)
				}
			}
			errs <- err
		})
	}
	wg.Wait()
	for range writers {
		require.NoError(t, <-errs)
	}
	left := d.crash(t, nil).open(t, store.Options{Replay: replay})
	for i := range writers {
		for n := range each {
			require.NotNil(t, get(t, left, 1, fmt.Sprint(i, "-", n)))
		}
	}
}

// A block in a fresh log counts as on disk only when the log before it is.
func TestTheLogBeforeIsFlushedFirst(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncOff, Interval: time.Hour})
	write(t, s, counted(1, 10)...)
	sn, err := s.Snapshot()
	require.NoError(t, err)
	write(t, s, counted(2, 10)...)
	require.NoError(t, s.Checkpoint(ctx)) // turned; block 2 cannot be folded
	write(t, s, counted(3, 10)...)
	require.NoError(t, s.Sync(ctx))
	require.Equal(t, s.Seq(), s.Stats().SyncedSeq)
	left := d.crash(t, nil)
	sn.Close()
	left.requireWhole(t, store.Options{}, 3, 3)
}

// A reservation flushes the log in use. It must not get ahead of the one before,
// or a crash leaves a log that goes on after blocks that are lost.
func TestReservationBesideAnUnfoldedLog(t *testing.T) {
	d := newDisk(t)
	opts := store.Options{Sync: store.SyncOff, Replay: replay}
	s := d.open(t, opts)
	write(t, s, op{1, "a", []byte("1")})
	sn, err := s.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	write(t, s, op{1, "b", []byte("2")})
	require.NoError(t, s.Checkpoint(ctx))
	for i := range 6 {
		b, err := s.Begin(ctx, nil)
		require.NoError(t, err)
		require.NoError(t, b.Put(1, []byte("c"), []byte{byte(i)}))
		require.NoError(t, b.Log(appendOp(nil, 1, []byte("c"), []byte{byte(i)}), 1<<20))
		_, err = b.Commit(nil)
		require.NoError(t, err)
	}
	for _, left := range []*disk{d.crash(t, nil), d.kill(t)} {
		again := left.open(t, opts)
		require.Equal(t, "1", string(get(t, again, 1, "a")))
		require.NoError(t, again.Close())
	}
}

func TestPeriodicSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t)
		s := d.open(t, store.Options{Interval: 100 * time.Millisecond})
		write(t, s, counted(1, 10)...)
		require.Less(t, s.Stats().SyncedSeq, s.Seq(), "not before the interval is over")
		time.Sleep(101 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, s.Seq(), s.Stats().SyncedSeq)
		d.crash(t, nil).requireWhole(t, store.Options{}, 1, 1)

		flushes := d.faults.Count(waltest.Sync)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, flushes, d.faults.Count(waltest.Sync), "nothing to do for an idle store")
		write(t, s, counted(2, 10)...)
		time.Sleep(101 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, s.Seq(), s.Stats().SyncedSeq)
		require.NoError(t, s.Close())
	})
}

func TestSyncOffLeavesTheDiskAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t)
		s := d.open(t, store.Options{Sync: store.SyncOff, IdleCheckpoint: time.Hour})
		write(t, s, counted(1, 10)...)
		flushes := d.faults.Count(waltest.Sync)
		for i := 2; i < 50; i++ {
			write(t, s, counted(i, 10)...)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, flushes, d.faults.Count(waltest.Sync))
		require.NoError(t, s.Close())
	})
}

// An idle store is folded, and its log goes.
func TestIdleCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t)
		s := d.open(t, store.Options{IdleCheckpoint: 10 * time.Second})
		for i := 1; i <= 5; i++ {
			write(t, s, counted(i, 10)...)
			time.Sleep(6 * time.Second)
		}
		require.Zero(t, s.Stats().FoldedSeq, "it was never idle for long enough")
		time.Sleep(15 * time.Second)
		synctest.Wait()
		require.Equal(t, s.Seq(), s.Stats().FoldedSeq)
		write(t, s, counted(6, 10)...)
		time.Sleep(21 * time.Second)
		synctest.Wait()
		require.Equal(t, s.Seq(), s.Stats().FoldedSeq)
		require.Equal(t, 6, count(t, s))
		require.NoError(t, s.Close())
	})
}

// Whoever waits for the disk stops waiting with its context; the block stays.
func TestWaitEndsWithItsContext(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncAlways})
	write(t, s, counted(1, 10)...)
	gate := waltest.NewGate(waltest.Sync)
	d.faults.SetHook(gate.Hook)
	first := make(chan error)
	go func() {
		_, err := tryWrite(s, counted(2, 10)...)
		first <- err
	}()
	gate.Wait() // the first runs the flush; others wait for it

	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, fill(b, counted(3, 10)...))
	ticket, err := b.Commit(nil)
	require.NoError(t, err)
	short, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, ticket.Wait(short), context.Canceled)
	gate.Open()
	require.NoError(t, <-first)
	require.NoError(t, ticket.Wait(ctx))
	require.NoError(t, s.Stats().Failure, "giving up is no failure")
	require.Equal(t, 3, count(t, s))
}

// A clean close needs no replay, whatever it leaves; a loss of power after it
// takes nothing.
func TestCloseIsDurable(t *testing.T) {
	for _, policy := range []store.Sync{store.SyncEvery, store.SyncAlways, store.SyncOff} {
		for _, keep := range []bool{false, true} {
			for _, turned := range []bool{false, true} {
				t.Run(fmt.Sprintf("policy=%d/keepLog=%v/turned=%v", policy, keep, turned), func(t *testing.T) {
					d := newDisk(t)
					opts := store.Options{Sync: policy, NoCheckpoint: keep, Interval: time.Hour}
					s := d.open(t, opts)
					for i := 1; i <= 3; i++ {
						write(t, s, counted(i, 10)...)
					}
					if turned {
						hold(t, s, 3)
						write(t, s, counted(4, 10)...)
						require.NoError(t, s.Checkpoint(ctx))
						write(t, s, counted(5, 10)...)
					}
					n, seq := count(t, s), s.Seq()
					require.NoError(t, s.Close())
					left := d.crash(t, nil)
					s = d.open(t, opts)
					require.Equal(t, n, count(t, s))
					require.Equal(t, seq, s.Seq(), "after a clean close the numbers go on")
					require.NoError(t, s.Close())

					// The crash may bring back a log that was removed.
					s = left.open(t, opts)
					require.Equal(t, n, count(t, s))
					require.GreaterOrEqual(t, s.Seq(), seq)
					require.NoError(t, s.Close())
				})
			}
		}
	}
}

// hold opens a snapshot that nobody closes, so that nothing after it is folded.
func hold(t testing.TB, s *store.Store, blocks int) {
	t.Helper()
	sn, err := s.Snapshot()
	require.NoError(t, err)
	t.Cleanup(sn.Close)
	v := sn.View()
	defer v.Release()
	n, err := countIn(v)
	require.NoError(t, err)
	require.Equal(t, blocks, n)
}
