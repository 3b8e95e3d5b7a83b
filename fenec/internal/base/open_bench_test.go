package base_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// BenchmarkOpen opens a file, reads a key and closes it, by how many of its
// pages are free, and the same with a fold in the place of the read.
func BenchmarkOpen(b *testing.B) {
	for _, free := range []int{0, 5000, 20000} {
		path := withFreePages(b, free)
		b.Run(fmt.Sprintf("read/free=%d", free), func(b *testing.B) {
			for b.Loop() {
				reopened(b, path, func(f *base.File) {
					tx := acquire(b, f)
					_, err := tx.Get(1, []byte("00000001"))
					require.NoError(b, err)
					tx.Release()
				})
			}
		})
		b.Run(fmt.Sprintf("fold/free=%d", free), func(b *testing.B) {
			for b.Loop() {
				reopened(b, path, func(f *base.File) { fold(b, f, f.Folded(), put(2, "k", "v")) })
			}
		})
	}
}

// withFreePages makes a file in which about n pages, four and four, are free.
func withFreePages(t testing.TB, n int) string {
	t.Helper()
	path := newPath(t)
	require.NoError(t, base.Create(path))
	reopened(t, path, func(f *base.File) {
		value := strings.Repeat("v", 3000) // two to a leaf, of two pages
		i := 0
		require.NoError(t, f.Fold(1, func() (base.Change, bool) {
			i++
			return put(1, fmt.Sprintf("%08d", i), value), i <= 2*n+1
		}))
		i = 0
		require.NoError(t, f.Fold(2, func() (base.Change, bool) {
			i += 8 // it leaves its leaf so empty that another one joins it
			return del(1, fmt.Sprintf("%08d", i)), i <= 2*n
		}))
		require.InDelta(t, n, f.FreeBytes()/4096, 100+float64(n)/20)
	})
	return path
}
