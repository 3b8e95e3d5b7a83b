package http1_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// The watch of a stream begins while the handler gives buffers back.
func TestManyDetachedStreams(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		done := r.Context().Done()
		for end := time.After(50 * time.Millisecond); ; {
			w.(interface{ Detach() }).Detach()
			io.WriteString(w, ":\n")
			w.(http.Flusher).Flush()
			select {
			case <-done:
				return
			case <-end:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
	s, addr := overTCP(t, http1.ServerOptions{MaxConnections: 100}, h)
	var all sync.WaitGroup
	for range 50 {
		conn := dial(t, addr)
		all.Go(func() {
			defer conn.Close()
			io.WriteString(conn, get)
			io.Copy(io.Discard, conn)
		})
	}
	all.Wait()
	settle(t, func() bool { return s.ConnCount() == 0 })
	require.Zero(t, s.ConnCount())
}

// What follows a request unasked hides neither that its client goes away nor
// itself.
func TestClientLeavesBehindPipelined(t *testing.T) {
	for name, pieces := range map[string][]string{
		"at once":             {get + get},
		"a byte at once":      {get + "G"},
		"while it is watched": {get, get},
		"a byte":              {get, "G"},
		"in drops":            {get, "G", "E", "T"},
		"much":                {get, strings.Repeat("x", 3<<10)},
	} {
		for kind, wait := range map[string]func(http.ResponseWriter){
			"held":     func(http.ResponseWriter) {},
			"detached": func(w http.ResponseWriter) { w.(interface{ Detach() }).Detach() },
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				var calls int
				var ended time.Time
				h := func(w http.ResponseWriter, r *http.Request) {
					calls++
					wait(w)
					<-r.Context().Done()
					ended = time.Now()
					panic(http.ErrAbortHandler)
				}
				bubble(t, patient, h, func(t *testing.T, s *served) {
					conn, start := s.pipes.dial(), time.Now()
					for _, p := range pieces {
						io.WriteString(conn, p)
						after(10 * time.Second)
					}
					conn.Close()
					synctest.Wait()
					require.Equal(t, 1, calls)
					require.Equal(t, time.Duration(len(pieces))*10*time.Second, ended.Sub(start))
				})
			})
		}
	}
}

// What comes while a request is answered is read for the next ones in its order,
// however much it is.
func TestMuchPipelinedWhileWatched(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
		}
		fmt.Fprint(w, r.URL.Path, len(body), strings.Count(string(body), r.URL.Path[1:]))
	}
	var raw, want strings.Builder
	for i, n := range []int{0, 1, 100, 0, 5_000, 3, 20_000, 0} {
		c := string(rune('a' + i))
		fmt.Fprintf(&raw, "POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", c, n, strings.Repeat(c, n))
		fmt.Fprintf(&want, "/%s%d %d;", c, n, n)
	}
	raw.WriteString("GET /z HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	want.WriteString("/z0 0;")
	for _, piece := range []int{1, 7, 1_000, 1 << 20} {
		bubble(t, patient, h, func(t *testing.T, s *served) {
			conn := s.pipes.dial()
			go func() {
				for p := range slices.Chunk([]byte(raw.String()), piece) {
					conn.Write(p)
				}
			}()
			var got strings.Builder
			for _, r := range replies(t, readAll(conn)) {
				got.WriteString(r.body + ";")
			}
			require.Equal(t, want.String(), got.String(), "pieces of %d", piece)
		})
	}
}

// A connection that is given away takes along what the watch has read.
func TestHijackWhileWatched(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		r.Context().Done()
		after(time.Minute)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		line, _ := rw.ReadString('\n')
		io.WriteString(conn, line)
	}
	bubble(t, patient, h, func(t *testing.T, s *served) {
		conn := s.pipes.dial()
		for _, p := range []string{get + "a", "b", "cd", "efghi"} {
			io.WriteString(conn, p)
			after(time.Second)
		}
		go io.WriteString(conn, "j\n")
		require.Equal(t, "abcdefghij\n", readAll(conn))
	})
}

// A context that is first asked for its end once the handler has returned has
// ended, and has nobody watched.
func TestContextAskedTooLate(t *testing.T) {
	var kept context.Context
	h := func(w http.ResponseWriter, r *http.Request) {
		kept = r.Context()
		w.Write(make([]byte, 10))
	}
	bubble(t, patient, h, func(t *testing.T, s *served) {
		conn := s.pipes.dial()
		io.WriteString(conn, get)
		synctest.Wait() // the answer is not read yet
		require.NotNil(t, kept)
		select {
		case <-kept.Done():
		default:
			require.Fail(t, "not ended")
		}
		require.ErrorIs(t, kept.Err(), context.Canceled)
		conn.Close()
	})
}
