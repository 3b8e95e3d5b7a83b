package feed_test

import (
	"fmt"
	"testing"

	"github.com/fenec-go/fenecdb/fenec/internal/feed"
)

// BenchmarkAppend is what the feed adds to a put: the operation, and the block
// becoming part of it.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{30, 300, 3000} {
		for _, limit := range []int64{1 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("bytes=%d/kept=%d", size, limit), func(b *testing.B) {
				f := feed.New(limit)
				op := make([]byte, size)
				b.ReportAllocs()
				for i := uint64(1); b.Loop(); i++ {
					f.Begin()
					f.Add(definitions[0][0], op)
					f.Append(i, i, int64(i/400))
				}
			})
		}
	}
}
