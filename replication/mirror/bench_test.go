package mirror

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/http1"
)

// onSocket makes a place answer at a real address, and returns its URL.
func (p *place) onSocket() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	s := http1.NewServer(http.HandlerFunc(p.ServeHTTP), http1.ServerOptions{})
	go s.Serve(l)
	p.t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String()
}

// What replicas cost a write that is on disk when it is answered.
func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct{ replicas, held int }{{0, 0}, {1, 0}, {2, 0}, {1, 1}, {2, 2}} {
		b.Run(fmt.Sprintf("replicas=%d/held=%d", c.replicas, c.held), func(b *testing.B) {
			primary := newPrimary(b, sending(reporting))
			url := primary.onSocket()
			for range c.replicas {
				p := newReplica(b)
				p.follow(primary, func(o *ReplicaOptions) { o.Primary, o.Transport = url, nil })
				p.caughtUp(primary)
			}
			ctx := WithHeld(context.Background(), c.held)
			if c.held == 0 {
				ctx = context.Background()
			}
			primary.use(func(db *fenec.DB) {
				for b.Loop() {
					_, err := db.Exec(ctx, `put notes {n: 1}`)
					require.NoError(b, err)
				}
			})
		})
	}
}

// How fast an empty replica takes what is there, write by write.
func BenchmarkCatchUp(b *testing.B) {
	const writes = 20_000
	primary := newPrimary(b, with(func(o *fenec.Options) { o.Sync = fenec.SyncDefault }))
	primary.use(func(db *fenec.DB) {
		for i := range writes {
			_, err := db.Exec(context.Background(), `put notes {n: $1, title: 'a title of some length'}`, i)
			require.NoError(b, err)
		}
	})
	url := primary.onSocket()
	for b.Loop() {
		p := newReplica(b, with(func(o *fenec.Options) { o.Sync = fenec.SyncDefault }))
		p.follow(primary, func(o *ReplicaOptions) { o.Primary, o.Transport = url, nil })
		p.caughtUp(primary)
		p.unfollow()
	}
	b.ReportMetric(float64(writes*b.N)/b.Elapsed().Seconds(), "writes/s")
}
