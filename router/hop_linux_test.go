package router

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// BenchmarkHop measures what the router adds: one kept-alive client asks a
// net/http node, each in a process of its own, directly and through the router in
// turns. It reports the medians and their ratio.
func BenchmarkHop(b *testing.B) {
	node := start(b, "node")
	direct, routed := connect(b, node), connect(b, start(b, node))
	const round = 200
	var straight, through []time.Duration
	for b.Loop() {
		straight = direct.ask(straight, round)
		through = routed.ask(through, round)
	}
	d, r := median(straight), median(through)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(d.Nanoseconds())/1e3, "direct-µs")
	b.ReportMetric(float64(r.Nanoseconds())/1e3, "routed-µs")
	b.ReportMetric(float64(r)/float64(d), "ratio")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// asker is a client on a blocking socket, so that it costs next to nothing
// itself.
type asker struct {
	tb  testing.TB
	fd  int
	buf []byte
}

func connect(tb testing.TB, addr string) *asker {
	conn, err := net.Dial("tcp", addr)
	require.NoError(tb, err)
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(tb, err)
	a := &asker{tb: tb, buf: make([]byte, 4<<10)}
	require.NoError(tb, raw.Control(func(fd uintptr) { a.fd, err = unix.Dup(int(fd)) }))
	require.NoError(tb, err)
	conn.Close()
	require.NoError(tb, unix.SetNonblock(a.fd, false))
	tb.Cleanup(func() { unix.Close(a.fd) })
	return a
}

var question = []byte("GET /t/acme/docs?limit=1&select=title HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer abc\r\n\r\n")

// ask asks n times and appends how long each answer took. The answer is small
// enough to come in one piece.
func (a *asker) ask(times []time.Duration, n int) []time.Duration {
	for range n {
		start := time.Now()
		if _, err := unix.Write(a.fd, question); err != nil {
			a.tb.Fatal(err)
		}
		m, err := unix.Read(a.fd, a.buf)
		if err != nil || m == 0 {
			a.tb.Fatal("no answer: ", err)
		}
		times = append(times, time.Since(start))
	}
	return times
}
