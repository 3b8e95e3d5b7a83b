package store

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLock()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.NoError(t, l.LockBefore(ctx))
		require.ErrorIs(t, l.LockBefore(ctx), context.DeadlineExceeded)
		require.Zero(t, l.asleep.Load())

		const waiting = 5
		got := make(chan bool, waiting)
		for range waiting {
			go func() {
				got <- l.LockBefore(context.Background()) == nil
			}()
		}
		for range waiting {
			synctest.Wait()
			require.Empty(t, got, "it is held")
			l.Unlock()
			require.True(t, <-got)
		}
		require.False(t, l.TryLock())
		l.Unlock()
		require.True(t, l.TryLock())
	})
}

// Everybody gets it, whatever way they wait and though some give up.
func TestLockContended(t *testing.T) {
	l := newLock()
	held := 0 // guarded by l
	hold := func(i int) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if i < 4 {
			go cancel()
		}
		if i%4 == 0 {
			l.Lock()
		} else if l.LockBefore(ctx) != nil {
			return
		}
		held++
		l.Unlock()
	}
	const times = 2000
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range times {
				hold(i)
			}
		})
	}
	all.Wait()
	require.GreaterOrEqual(t, held, 5*times)
}
