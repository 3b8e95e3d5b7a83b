package store_test

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// BenchmarkPut measures one ascending key of 300 bytes a block, without
// waiting for the disk.
func BenchmarkPut(b *testing.B) {
	s, err := store.Open(filepath.Join(b.TempDir(), "db"), store.Options{Replay: replay})
	require.NoError(b, err)
	defer s.Close()
	key, val := make([]byte, 8), make([]byte, 300)
	rec := appendOp(nil, 1, key, val)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		blk, err := s.Begin(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		binary.BigEndian.PutUint64(key, uint64(i))
		_ = blk.Put(1, key, val)
		_ = blk.Put(0, []byte("f0001"), key)
		_ = blk.Log(rec, 1)
		if _, err := blk.Commit(nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGet measures random keys of a million in the base.
func BenchmarkGet(b *testing.B) {
	s, err := store.Open(filepath.Join(b.TempDir(), "db"), store.Options{Replay: replay, Sync: store.SyncOff})
	require.NoError(b, err)
	defer s.Close()
	const rows = 1_000_000
	key, val := make([]byte, 8), make([]byte, 300)
	for i := 0; i < rows; {
		blk, err := s.Begin(ctx, nil)
		require.NoError(b, err)
		for range 1000 {
			binary.BigEndian.PutUint64(key, uint64(i))
			_ = blk.Put(1, key, val)
			_ = blk.Log(key, 1)
			i++
		}
		_, err = blk.Commit(nil)
		require.NoError(b, err)
	}
	require.NoError(b, s.Checkpoint(ctx))
	require.NoError(b, s.Checkpoint(ctx))
	x := uint64(1)
	b.ReportAllocs()
	for b.Loop() {
		x = x*6364136223846793005 + 1442695040888963407
		binary.BigEndian.PutUint64(key, (x>>33)%rows)
		sn, err := s.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		v := sn.View()
		got, err := v.Get(1, key)
		if err != nil || len(got) != 300 {
			b.Fatal(err, len(got))
		}
		v.Release()
		sn.Close()
	}
}
