//go:build linux || darwin

package router_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fenec-go/fenecdb/router"
)

// TestManyStreams opens 10,000 subscriptions through the router, sends each an event, and
// closes them. Each takes four descriptors; where there are fewer, so are the streams.
func TestManyStreams(t *testing.T) {
	if os.Getenv("FENEC_LONG") == "" {
		t.Skip("FENEC_LONG is not set")
	}
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	limit.Cur = limit.Max
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	n := int(min(10_000, (limit.Cur-200)/4))
	t.Logf("%d streams", n)
	g := startRouter(t, ownFace, router.Options{MaxConnections: -1})
	event := make(chan struct{})
	var open, gone atomic.Int32
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		if _, _, err := c.request(); err != nil {
			return
		}
		c.reply("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n")
		open.Add(1)
		<-event
		c.reply("data: 1\n")
		io.Copy(io.Discard, c)
		gone.Add(1)
	}), "acme")

	conns := make([]net.Conn, n)
	var clients sync.WaitGroup
	var got atomic.Int32
	turn := make(chan struct{}, 64) // of those that connect at once
	for i := range n {
		turn <- struct{}{}
		clients.Go(func() {
			c, err := net.Dial("tcp", g.addr)
			if err != nil {
				<-turn
				t.Error(err)
				return
			}
			conns[i] = c
			io.WriteString(c, "GET /t/acme/notes/changes HTTP/1.1\r\nHost: x\r\n\r\n")
			r := bufio.NewReaderSize(c, 512)
			for line := ""; !strings.HasPrefix(line, ": hello"); {
				if line, err = r.ReadString('\n'); err != nil {
					<-turn
					t.Error(err)
					return
				}
			}
			<-turn
			if line, _ := r.ReadString('\n'); line == "data: 1\n" {
				got.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return int(open.Load()) == n }, time.Minute, 10*time.Millisecond)
	require.Equal(t, n, connections(g))
	close(event)
	clients.Wait()
	require.EqualValues(t, n, got.Load())
	for _, c := range conns {
		c.Close()
	}
	require.Eventually(t, func() bool { return int(gone.Load()) == n && connections(g) == 0 }, time.Minute, 10*time.Millisecond,
		"the nodes' streams end with the clients")
}
