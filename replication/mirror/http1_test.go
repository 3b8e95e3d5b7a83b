package mirror

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// The servers that a source is mounted on, over real sockets.
func TestServers(t *testing.T) {
	for name, start := range map[string]func(h http.Handler, l net.Listener) (stop func() error){
		"http1": func(h http.Handler, l net.Listener) func() error {
			s := http1.NewServer(h, http1.ServerOptions{MaxConnections: 6, IdleTimeout: time.Minute})
			go s.Serve(l)
			return s.Close
		},
		"net/http": func(h http.Handler, l net.Listener) func() error {
			s := &http.Server{Handler: h}
			go s.Serve(l)
			return s.Close
		},
	} {
		t.Run(name, func(t *testing.T) {
			primary := newPrimary(t, sending(reporting))
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			stop := start(primary, l)
			defer stop()
			var replicas []*place
			for range 4 {
				p := newReplica(t)
				p.follow(primary, func(o *ReplicaOptions) {
					o.Primary, o.Transport = "http://"+l.Addr().String(), nil
				})
				replicas = append(replicas, p)
				p.caughtUp(primary)
			}
			primary.write(3)
			primary.source.Load().Restart("for a test")
			primary.write(3)
			for _, p := range replicas {
				p.caughtUp(primary)
				requireSame(t, primary, p)
			}
			require.NoError(t, stop())
			for _, p := range replicas {
				eventually(t, func() bool { return !p.replica.Load().Status().Connected }, "", func() []any { return nil })
			}
		})
	}
}
