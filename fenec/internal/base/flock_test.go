package base_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// The file is this process's alone from when it is opened to when it is closed.
func TestLockedThroughout(t *testing.T) {
	f, path := reopen(t, put(1, "k", "v"))
	asked := func() string {
		out, err := child(t, "open", path).CombinedOutput()
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, "in use", asked())
	_, release := hold(t, f)
	fold(t, f, 2, put(1, "k", "w"))
	require.Equal(t, "in use", asked(), "with a reader of before the fold")
	release()
	f.AwaitReaders()
	require.Equal(t, "in use", asked())
	_, err := base.Open(path)
	require.ErrorIs(t, err, base.ErrInUse, "in the same process")
	require.NoError(t, f.Close())
	require.Equal(t, "opened", asked())
}

// Of those that open a file at once one has it at a time, and nobody gets half
// of it.
func TestOpenIsARace(t *testing.T) {
	path := newPath(t)
	require.NoError(t, base.Create(path))
	var holders, opened atomic.Int32
	visit := func() error {
		f, err := base.Open(path)
		if errors.Is(err, base.ErrInUse) {
			return nil
		}
		if err != nil {
			return err
		}
		opened.Add(1)
		if holders.Add(1) > 1 {
			err = errors.New("open twice")
		}
		err = errors.Join(err, f.Fold(f.Folded()+1, yield(put(1, "k", "v"))))
		holders.Add(-1)
		return errors.Join(err, f.Close())
	}
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for range 100 {
				errs[i] = errors.Join(errs[i], visit())
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Positive(t, opened.Load())
	require.EqualValues(t, opened.Load(), open(t, path).Folded())
}

// A file that somebody else has locked meanwhile is not read any more, since
// its pages may be others by now.
func TestLockLost(t *testing.T) {
	if !base.Lazily {
		t.Skip("the lock is kept by bbolt")
	}
	t.Run("held by another", func(t *testing.T) {
		f, path := reopen(t, put(1, "k", "v"))
		require.NoError(t, f.GiveUpLock())
		other := open(t, path)
		err := f.Fold(2, yield(put(1, "k", "w")))
		require.ErrorIs(t, err, base.ErrInUse)
		require.ErrorIs(t, err, base.ErrLockLost)
		_, err = f.Acquire()
		require.ErrorIs(t, err, base.ErrClosed)
		require.ErrorIs(t, f.Fold(2, yield(put(1, "k", "w"))), base.ErrClosed)
		require.NoError(t, f.Close())
		_, err = base.Open(path)
		require.ErrorIs(t, err, base.ErrInUse, "the lock is the other's")
		fold(t, other, 2, put(1, "k", "x"))
	})
	for name, c := range map[string]struct {
		meanwhile func(f *base.File)
		want      error
	}{
		"opened by another":  {func(*base.File) {}, nil},
		"written by another": {func(f *base.File) { fold(t, f, 2, put(1, "k", "w")) }, base.ErrLockLost},
	} {
		t.Run(name, func(t *testing.T) {
			f, path := reopen(t, put(1, "k", "v"))
			err := f.RetakeLock(func() { reopened(t, path, c.meanwhile) })
			require.ErrorIs(t, err, c.want)
		})
	}
}
