package router

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

func TestCountersLoseNothing(t *testing.T) {
	rt, err := New(Options{})
	require.NoError(t, err)
	defer rt.Shutdown(context.Background())
	c := &rt.metrics
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for range 1000 {
				c.count(func(t *tally) { t.answered(forTenant, 200, time.Millisecond) })
				c.count(func(t *tally) { t.answered(forShard, 503, time.Second) })
				c.failed([]string{"n1", "n2"}[i%2])
			}
			c.moved(moveFailed, time.Minute)
		})
	}
	clients.Wait()
	c.count(func(t *tally) { t.answered(forTenant, 0, time.Second) }) // not answered
	var p metrics.Page
	rt.writeMetrics(&p)
	page := string(p.Bytes())
	for _, line := range []string{
		`fenec_router_requests_total{route="tenant",code="2xx"} 8000`,
		`fenec_router_requests_total{route="shard",code="5xx"} 8000`,
		`fenec_router_request_duration_seconds_count{route="tenant"} 8000`,
		`fenec_router_request_duration_seconds_sum{route="tenant"} 8`,
		`fenec_router_upstream_errors_total{node="n1"} 4000`,
		`fenec_router_upstream_errors_total{node="n2"} 4000`,
		`fenec_router_moves_total{outcome="done"} 0`,
		`fenec_router_moves_total{outcome="failed"} 8`,
		`fenec_router_move_duration_seconds_sum 480`,
	} {
		require.Contains(t, page, line+"\n")
	}
}

// BenchmarkCount is what counting adds to a request of a client that has a tally to
// itself, and of one that has not, with as many clients at once as there are processors.
func BenchmarkCount(b *testing.B) {
	b.Run("own", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			c := &client{status: 200, tries: []time.Duration{50 * time.Microsecond}}
			for pb.Next() {
				c.kind = forTenant
				c.countLocked()
			}
		})
	})
	b.Run("shared", func(b *testing.B) {
		var c counters
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				c.count(func(t *tally) { t.answered(forTenant, 200, 50*time.Microsecond) })
			}
		})
	})
}
