package hll_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/hll"
)

// TestHash pins the hash, which sketches in files rest on, by values published
// for XXH64 with seed 0.
func TestHash(t *testing.T) {
	for text, want := range map[string]uint64{
		"":    0xef46db3751d8e999,
		"a":   0xd24ec4f1a98c6e5b,
		"abc": 0x44bc2cf5ad770999,
		"Nobody inspects the spammish repetition":                                  0xfbcea83c8a378bf1,
		"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789": 0xd596a880d0f8ce90,
	} {
		require.Equal(t, want, hll.Hash([]byte(text)), text)
	}
	// Every length up to 199, as a reference implementation hashes them.
	var all uint64
	for n := range 200 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*7 + n)
		}
		all = all*31 + hll.Hash(b)
	}
	require.Equal(t, uint64(0x33c08a8a17803cb0), all)
}

func BenchmarkHash(b *testing.B) {
	text := []byte("a key of a usual length")
	for b.Loop() {
		hll.Hash(text)
	}
}
