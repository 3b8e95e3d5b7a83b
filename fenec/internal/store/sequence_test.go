package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

// However a store ends, and whatever of its logs is lost with it, no number is
// given out twice.
func TestNumbersAreGivenOutOnce(t *testing.T) {
	for _, policy := range []store.Sync{store.SyncAlways, store.SyncEvery, store.SyncOff} {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("policy=%d/seed=%d", policy, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 11))
				opts := store.Options{Sync: policy, NoCheckpoint: r.IntN(2) == 0, Replay: replay}
				d := newDisk(t)
				given := uint64(0) // the highest number so far
				for range 12 {
					s := d.open(t, opts)
					require.GreaterOrEqual(t, s.Seq(), uint64(0))
					for range r.IntN(6) {
						given = requireFresh(t, s, r, given)
					}
					d = end(t, s, d, r)
				}
			})
		}
	}
}

// requireFresh writes a block and checks that it takes numbers above given. It
// returns the highest it took.
func requireFresh(t *testing.T, s *store.Store, r *rand.Rand, given uint64) uint64 {
	t.Helper()
	if r.IntN(4) == 0 {
		require.NoError(t, s.Checkpoint(ctx))
	}
	if r.IntN(6) == 0 {
		image(t, s)
	}
	numbers := 1 + r.Uint64N(5)
	if r.IntN(8) == 0 {
		numbers = 1<<20 + r.Uint64N(1<<20) // more than one reservation covers
	}
	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	key := fmt.Sprint(r.IntN(50))
	require.NoError(t, b.Put(1, []byte(key), []byte(key)))
	require.NoError(t, b.Log(appendOp(nil, 1, []byte(key), []byte(key)), numbers))
	ticket, err := b.Commit(nil)
	require.NoError(t, err)
	require.NoError(t, ticket.Wait(ctx))
	require.Greater(t, ticket.From, given, "a number is given out again")
	require.Equal(t, numbers, ticket.To-ticket.From+1)
	require.Equal(t, ticket.To, s.Seq())
	return ticket.To
}

// end ends s in some way, and returns the disk as it is then.
func end(t *testing.T, s *store.Store, d *disk, r *rand.Rand) *disk {
	t.Helper()
	left := d
	switch r.IntN(5) {
	case 0: // cleanly
		require.NoError(t, s.Close())
	case 1:
		left = d.kill(t)
	case 2:
		left = d.crash(t, nil)
	case 3:
		left = d.crash(t, r)
	case 4: // what is not known to be on disk is cut off
		left = d.kill(t)
		cutTail(t, left, r)
	}
	require.NoError(t, s.Close())
	return left
}

// cutTail cuts a log somewhere behind what it knows to be on disk.
func cutTail(t *testing.T, d *disk, r *rand.Rand) {
	t.Helper()
	path := store.LogPath(d.path)
	b := d.log(t, path)
	if b == nil {
		return
	}
	found, err := wal.Inspect(path, wal.Options{FS: d.mem})
	require.NoError(t, err)
	least := max(found.Durable, 8192)
	d.mem.WriteFile(path, b[:least+r.Int64N(int64(len(b))-least+1)])
}

// After a clean end numbers have no gaps.
func TestNumbersGoOnAfterACleanEnd(t *testing.T) {
	for _, keep := range []bool{false, true} {
		d := newDisk(t)
		opts := store.Options{NoCheckpoint: keep, Replay: replay}
		for i := 1; i <= 5; i++ {
			s := d.open(t, opts)
			write(t, s, op{1, "k", []byte{byte(i)}})
			require.EqualValues(t, i, s.Seq())
			require.NoError(t, s.Close())
		}
	}
}

// A reservation that cannot be made durable hands out nothing.
func TestFailedReservation(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncOff})
	write(t, s, op{1, "k", []byte{1}})
	d.faults.SetHook(waltest.Fail(waltest.Sync, 1, errDisk))
	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, b.Log([]byte("x"), 1<<21))
	_, err = b.Commit(nil)
	require.ErrorIs(t, err, store.ErrFailed)
	require.EqualValues(t, 1, s.Seq())
}
