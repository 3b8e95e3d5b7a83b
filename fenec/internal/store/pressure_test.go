package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// However much is written, no more memory is held than the fronts may have, a
// block in the making, and what arenas allocate ahead.
func TestMemoryIsBounded(t *testing.T) {
	for name, times := range map[string]int{"memory": 100, "file": 10} {
		t.Run(name, func(t *testing.T) {
			path := map[string]string{"file": newDisk(t).path}[name]
			const frontBytes, blockBytes = 64 << 10, 4 << 10
			s := open(t, path, store.Options{Sync: store.SyncOff, FrontBytes: frontBytes})
			done := make(chan struct{})
			var readers sync.WaitGroup
			readErrs := make(chan error, 1)
			readers.Go(func() { readErrs <- readUntil(done, s) })
			r := rand.New(rand.NewPCG(1, 16))
			most := int64(0)
			for written := 0; written < times*frontBytes; written += blockBytes {
				ops := make([]op, 4)
				for i := range ops {
					ops[i] = op{1, fmt.Sprint(r.IntN(200)), make([]byte, blockBytes/4)}
				}
				write(t, s, ops...)
				most = max(most, s.Stats().FrontBytes)
			}
			close(done)
			readers.Wait()
			require.NoError(t, <-readErrs)
			// Small arenas double: each front may take twice what it may hold.
			require.LessOrEqual(t, most, int64(2*2*frontBytes+4*blockBytes))
		})
	}
}

// However little memory a store may take, it goes on.
func TestTinyFronts(t *testing.T) {
	for _, path := range []string{"", newDisk(t).path} {
		s := open(t, path, store.Options{FrontBytes: 1})
		for i := 1; i <= 20; i++ {
			write(t, s, counted(i, 10)...)
		}
		require.Equal(t, 20, count(t, s))
		require.NoError(t, s.Close())
	}
}

// readUntil opens snapshot after snapshot, and reads.
func readUntil(done <-chan struct{}, s *store.Store) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		r, err := s.Read()
		if err != nil {
			return err
		}
		it := r.Iter(1, nil, nil)
		for it.First(); it.Valid(); it.Next() {
			_ = it.Value()
		}
		err = it.Err()
		r.End()
		if err != nil && !errors.Is(err, store.ErrSnapshotTooOld) {
			return err
		}
	}
}

// Overwriting the same rows does not let the file grow without end, with
// readers beside and without.
func TestFileSizeLevelsOff(t *testing.T) {
	for _, reading := range []bool{false, true} {
		path := newDisk(t).path
		s := open(t, path, store.Options{Sync: store.SyncOff, FrontBytes: 256 << 10})
		done := make(chan struct{})
		errs := make(chan error, 1)
		if reading {
			go func() { errs <- readUntil(done, s) }()
		} else {
			errs <- nil
		}
		const rows, rowBytes = 500, 200
		sizes := make([]int64, 0, 30)
		for round := range cap(sizes) {
			ops := make([]op, rows)
			for i := range ops {
				ops[i] = op{1, fmt.Sprintf("%04d", i), bytes.Repeat([]byte{byte(round)}, rowBytes)}
			}
			write(t, s, ops...)
			require.NoError(t, s.Checkpoint(ctx))
			sizes = append(sizes, s.Stats().BaseBytes)
		}
		close(done)
		require.NoError(t, <-errs)
		require.LessOrEqual(t, sizes[len(sizes)-1], 2*sizes[len(sizes)/2], "%v", sizes)
		require.LessOrEqual(t, sizes[len(sizes)-1], int64(20*rows*rowBytes))
		require.NoError(t, s.Close())
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(20*rows*rowBytes))
	}
}

// stopper makes folds wait.
type stopper struct {
	stopped atomic.Bool
	reached chan struct{} // one that has begun to wait
	goOn    chan struct{} // closed to let all go on
}

func newStopper() *stopper {
	return &stopper{reached: make(chan struct{}, 100), goOn: make(chan struct{})}
}

func (p *stopper) step(name string) {
	if name == "fold" && p.stopped.Load() {
		p.reached <- struct{}{}
		<-p.goOn
	}
}

// stall fills both fronts of a store whose folds are stopped, so that the next
// Begin waits.
func stall(t *testing.T, path string, opts store.Options) (*store.Store, *stopper) {
	t.Helper()
	p := newStopper()
	opts.Step, opts.FrontBytes, opts.Replay = p.step, 64<<10, replay
	s, err := store.Open(path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	p.stopped.Store(true)
	for i := 0; ; i++ {
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		b, err := s.Begin(short, nil)
		cancel()
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			<-p.reached
			return s, p
		}
		require.NoError(t, fill(b, op{1, fmt.Sprint(i), make([]byte, 4<<10)}))
		_, err = b.Commit(nil)
		require.NoError(t, err)
		require.Less(t, i, 100, "writers are not slowed")
	}
}

func TestWritersWaitForTheFold(t *testing.T) {
	s, p := stall(t, newDisk(t).path, store.Options{})
	seq := s.Seq()
	canceled, cancel := context.WithCancel(ctx)
	begun := make(chan error)
	for range 3 {
		go func() {
			_, err := s.Begin(canceled, nil)
			begun <- err
		}()
	}
	cancel()
	for range 3 {
		require.ErrorIs(t, <-begun, context.Canceled)
	}
	require.NotNil(t, get(t, s, 1, "0"), "readers do not wait")

	written := make(chan error)
	for i := range 5 {
		go func() {
			_, err := tryWrite(s, op{2, fmt.Sprint(i), []byte{1}})
			written <- err
		}()
	}
	require.Equal(t, seq, s.Seq())
	close(p.goOn)
	for range 5 {
		require.NoError(t, <-written)
	}
}

// Close lets go of those who wait for room, whether it folds or not.
func TestCloseWhileWritersWait(t *testing.T) {
	for _, keep := range []bool{false, true} {
		for _, path := range []string{"", newDisk(t).path} {
			s, p := stall(t, path, store.Options{NoCheckpoint: keep})
			begun := make(chan error)
			for range 3 {
				go func() {
					_, err := s.Begin(ctx, nil)
					begun <- err
				}()
			}
			closed := make(chan error)
			go func() { closed <- s.Close() }()
			for range 3 {
				require.ErrorIs(t, <-begun, store.ErrClosed, "they need not wait for the fold")
			}
			close(p.goOn)
			require.NoError(t, <-closed)
		}
	}
}

// A snapshot that makes writers wait is ended soon; its time is not over yet.
func TestSnapshotIsEndedUnderPressure(t *testing.T) {
	for name, path := range map[string]string{"memory": "", "file": newDisk(t).path} {
		t.Run(name, func(t *testing.T) {
			s := open(t, path, store.Options{FrontBytes: 64 << 10, SnapshotTimeout: time.Hour})
			write(t, s, op{1, "k", []byte("v")})
			sn, err := s.Snapshot()
			require.NoError(t, err)
			v := sn.View()
			_, err = v.Get(1, []byte("none"))
			require.NoError(t, err)
			v.Release()
			for i := range 200 {
				write(t, s, op{1, fmt.Sprint(i), make([]byte, 4<<10)})
			}
			_, err = v.Get(1, []byte("none"))
			require.ErrorIs(t, err, store.ErrSnapshotTooOld)
			sn.Close()
			require.Less(t, s.Stats().FrontBytes, int64(256<<10))
			require.NotNil(t, get(t, s, 1, "199"))
		})
	}
}

// Snapshots that come and go while writers press are ended or see one
// sequence, never anything else.
func TestSnapshotsUnderPressure(t *testing.T) {
	s := open(t, newDisk(t).path, store.Options{Sync: store.SyncOff, FrontBytes: 64 << 10, SnapshotTimeout: time.Millisecond})
	const rows = 20
	round := func(n int) []op {
		ops := make([]op, rows)
		for i := range ops {
			ops[i] = op{1, fmt.Sprint(i), bytes.Repeat([]byte{byte(n)}, 300)}
		}
		return ops
	}
	write(t, s, append(round(0), op{1, "in the base", []byte{1}})...)
	done := make(chan struct{})
	errs := make(chan error, 3)
	var ended atomic.Int64
	for range cap(errs) {
		go func() {
			for {
				select {
				case <-done:
					errs <- nil
					return
				default:
				}
				if err := sameRound(s, rows, done); errors.Is(err, store.ErrSnapshotTooOld) {
					ended.Add(1)
				} else if err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	for n := 1; n < 150; n++ {
		write(t, s, round(n)...)
	}
	close(done)
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	require.Positive(t, ended.Load(), "none was ever in the way")
}

// sameRound checks that a snapshot sees all rows as of one round, for as long as
// it sees anything, while 30 more rounds are written.
func sameRound(s *store.Store, rows int, done <-chan struct{}) error {
	sn, err := s.Snapshot()
	if err != nil {
		return err
	}
	defer sn.Close()
	var first []byte
	for s.Seq() < sn.Seq()+uint64(30*rows) {
		select {
		case <-done:
			return nil
		default:
			runtime.Gosched()
		}
		v := sn.View()
		if _, err := v.Get(1, []byte("in the base")); err != nil {
			v.Release()
			return err
		}
		for i := range rows {
			val, err := v.Get(1, []byte(fmt.Sprint(i)))
			if err != nil {
				v.Release()
				return err
			}
			if first == nil {
				first = bytes.Clone(val)
			}
			if !bytes.Equal(val, first) {
				v.Release()
				return fmt.Errorf("row %d is of round %d in a snapshot of round %d", i, val[0], first[0])
			}
		}
		v.Release()
	}
	return nil
}
