package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// A view that is held across checkpoints sees one sequence, with its base
// transaction renewed or not.
func TestSnapshotAcrossCheckpoints(t *testing.T) {
	for _, path := range []string{"", newDisk(t).path} {
		s := open(t, path, store.Options{})
		r := rand.New(rand.NewPCG(1, 15))
		m := model{}
		change := func(n int) {
			ops := make([]op, n)
			for i := range ops {
				ops[i] = op{1 + uint32(r.IntN(3)), fmt.Sprintf("%03d", r.IntN(120)), []byte(fmt.Sprint(r.IntN(1e6)))}
				if r.IntN(3) == 0 {
					ops[i].val = nil
				}
				m.apply(ops[i])
			}
			write(t, s, ops...)
		}
		change(200)
		require.NoError(t, s.Checkpoint(ctx))
		change(50)
		type held struct {
			sn *store.Snapshot
			m  model
		}
		var views []held
		for range 10 {
			sn, err := s.Snapshot()
			require.NoError(t, err)
			views = append(views, held{sn, m.clone()})
			for range 3 {
				change(20)
			}
			require.NoError(t, s.Checkpoint(ctx))
			for _, v := range views {
				requireSame(t, v.sn, v.m, r)
			}
		}
		require.Equal(t, views[0].sn.Seq(), s.Oldest())
		for len(views) > 0 { // what was held up follows, step by step
			views[0].sn.Close()
			views[0].sn.Close()
			views = views[1:]
			require.NoError(t, s.Checkpoint(ctx))
			for _, v := range views {
				requireSame(t, v.sn, v.m, r)
			}
		}
		require.Equal(t, s.Seq(), s.Oldest())
		require.NoError(t, s.Checkpoint(ctx))
		require.NoError(t, s.Checkpoint(ctx))
		require.Equal(t, s.Seq(), s.Stats().FoldedSeq)
	}
}

// A reader may be slow between opening its snapshot and first looking at the
// base: what it should see is still there.
func TestReaderIsSlowToBegin(t *testing.T) {
	s := open(t, newDisk(t).path, store.Options{})
	write(t, s, counted(1, 10)...)
	require.NoError(t, s.Checkpoint(ctx))
	sn, err := s.Snapshot()
	require.NoError(t, err)
	v := sn.View()
	read, err := s.Read()
	require.NoError(t, err)
	for i := 2; i <= 20; i++ {
		write(t, s, counted(i, 10)...)
		require.NoError(t, s.Checkpoint(ctx))
		if i%5 == 0 {
			require.NoError(t, s.Compact(ctx))
		}
	}
	for _, v := range []*store.View{v, &read.View} {
		n, err := countIn(v)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		v.Release()
		n, err = countIn(v)
		require.NoError(t, err)
		require.Equal(t, 1, n, "a released view can be read again")
	}
	v.Release()
	sn.Close()
	read.End()
	require.Equal(t, 20, count(t, s))
}

// A walk that is longer than one transaction of the base goes on while what it
// walks over is folded, changed and taken away under it.
func TestLongWalkBesideFolds(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		s := open(t, newDisk(t).path, store.Options{})
		const keys = 20_000
		key := func(i int) string { return fmt.Sprintf("%06d", i) }
		var ops []op
		for i := range keys {
			if i%2 == 0 {
				ops = append(ops, op{1, key(i), []byte("old")})
			}
		}
		write(t, s, ops...)
		require.NoError(t, s.Checkpoint(ctx))
		ops = ops[:0]
		for i := range keys { // fills the gaps, in the front only
			if i%2 == 1 {
				ops = append(ops, op{1, key(i), []byte("new")})
			}
		}
		write(t, s, ops...)
		sn, err := s.Snapshot()
		require.NoError(t, err)
		v := sn.View()
		it, beside := v.Iter(1, nil, nil), v.Iter(1, []byte(key(50)), nil)
		beside.First()
		step := it.Next
		if it.First(); reverse {
			it.Last()
			step = it.Prev
		}
		for n := range keys {
			at := n
			if reverse {
				at = keys - 1 - n
			}
			require.Equal(t, key(at), string(it.Key()))
			require.Equal(t, []string{"old", "new"}[at%2], string(it.Value()))
			if n%3000 == 10 {
				write(t, s, op{1, key(at), nil}, op{1, key(min(at+1, keys-1)), nil}, op{1, key(max(at-1, 0)), []byte("changed")}, op{1, key(at) + "x", []byte("between")})
				require.NoError(t, s.Checkpoint(ctx))
			}
			step()
		}
		require.False(t, it.Valid())
		require.NoError(t, it.Err())
		for i := 50; i < 60; i++ { // it has slept through all of that
			require.Equal(t, key(i), string(beside.Key()))
			beside.Next()
		}
		v.Release()
		sn.Close()
	}
}

// A view of very many short iterations holds none of them back.
func TestManyShortIterations(t *testing.T) {
	s := open(t, newDisk(t).path, store.Options{})
	var ops []op
	for i := range 100 {
		ops = append(ops, op{1, fmt.Sprintf("%03d", i), []byte{1}})
	}
	write(t, s, ops...)
	require.NoError(t, s.Checkpoint(ctx))
	sn, err := s.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	long := v.Iter(1, nil, nil)
	long.First()
	allocated := testing.AllocsPerRun(1000, func() {
		it := v.Iter(1, []byte("050"), []byte("051"))
		n := 0
		for it.First(); it.Valid(); it.Next() {
			n++
		}
		require.Equal(t, 1, n)
	})
	require.Less(t, allocated, 20.0)
	n := 0
	for ; long.Valid(); long.Next() {
		n++
	}
	require.Equal(t, 100, n)
}

// A snapshot that holds up a fold is ended when its time is over, and not
// before.
func TestSnapshotTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(newDisk(t).path, store.Options{Replay: replay, SnapshotTimeout: 10 * time.Second, Interval: time.Hour, IdleCheckpoint: time.Hour})
		require.NoError(t, err)
		write(t, s, op{1, "k", []byte("1")})
		sn, err := s.Snapshot()
		require.NoError(t, err)
		v := sn.View()
		time.Sleep(time.Minute)
		_, err = v.Get(1, []byte("none"))
		require.NoError(t, err, "it is in nobody's way")
		v.Release()

		write(t, s, op{1, "k", []byte("2")})
		require.NoError(t, s.Checkpoint(ctx))
		require.Less(t, s.Stats().FoldedSeq, s.Seq())
		time.Sleep(9 * time.Second)
		_, err = v.Get(1, []byte("none"))
		require.NoError(t, err)
		v.Release()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		_, err = v.Get(1, []byte("none"))
		require.ErrorIs(t, err, store.ErrSnapshotTooOld)
		it := v.Iter(1, nil, nil)
		it.First()
		require.ErrorIs(t, it.Err(), store.ErrSnapshotTooOld)
		require.Equal(t, s.Seq(), s.Stats().FoldedSeq, "the fold went on")
		v.Release()
		sn.Close()
		require.Equal(t, "2", string(get(t, s, 1, "k")))
		require.NoError(t, s.Close())
	})
}

// A long walk is ended in the middle when its snapshot is.
func TestSnapshotEndsDuringAWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(newDisk(t).path, store.Options{Replay: replay, SnapshotTimeout: time.Second, Interval: time.Hour, IdleCheckpoint: time.Hour})
		require.NoError(t, err)
		var ops []op
		for i := range 10_000 {
			ops = append(ops, op{1, fmt.Sprintf("%06d", i), []byte("v")})
		}
		write(t, s, ops...)
		require.NoError(t, s.Checkpoint(ctx))
		sn, err := s.Snapshot()
		require.NoError(t, err)
		v := sn.View()
		it := v.Iter(1, nil, nil)
		it.First()
		write(t, s, op{1, "k", []byte("2")})
		require.NoError(t, s.Checkpoint(ctx))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		n := 0
		for ; it.Valid(); it.Next() {
			require.Equal(t, fmt.Sprintf("%06d", n), string(it.Key()))
			n++
		}
		require.ErrorIs(t, it.Err(), store.ErrSnapshotTooOld, "it ends early, and says so")
		require.Less(t, n, 10_000)
		v.Release()
		sn.Close()
		require.NoError(t, s.Close())
	})
}

// What a view returned stays as it is until the view is released.
func TestValuesStay(t *testing.T) {
	s := open(t, newDisk(t).path, store.Options{})
	var ops []op
	for i := range 200 {
		ops = append(ops, op{1, fmt.Sprintf("%03d", i), bytes.Repeat([]byte{byte(i)}, 100)})
	}
	write(t, s, ops...)
	require.NoError(t, s.Checkpoint(ctx))
	sn, err := s.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	var vals [][]byte
	for i := range 200 {
		val, err := v.Get(1, []byte(fmt.Sprintf("%03d", i)))
		require.NoError(t, err)
		vals = append(vals, val)
	}
	for round := range 5 {
		for i := range ops {
			ops[i].val = bytes.Repeat([]byte{byte(round)}, 90)
		}
		write(t, s, ops...)
		require.NoError(t, s.Checkpoint(ctx))
	}
	for i, val := range vals {
		require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(i)}, 100), val))
	}
	v.Release()
}
