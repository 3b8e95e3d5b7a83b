package http1_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// waiting waits for the request's context, or for its path's length in seconds.
func waiting(w http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	case <-time.After(time.Duration(len(r.URL.Path)) * time.Second):
	}
}

func TestContextEndsWithTheClient(t *testing.T) {
	for name, wait := range map[string]func(context.Context){
		"Done": func(ctx context.Context) { <-ctx.Done() },
		"Err": func(ctx context.Context) {
			for ctx.Err() == nil {
				after(time.Second)
			}
		},
		"derived": func(ctx context.Context) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			if runtime.NumGoroutine() > before {
				panic("a derived context costs a goroutine")
			}
			<-ctx.Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, raw := range []string{get, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"} {
				var ended time.Time
				h := func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					wait(r.Context())
					ended = time.Now()
				}
				bubble(t, patient, h, func(t *testing.T, s *served) {
					conn, start := s.pipes.dial(), time.Now()
					io.WriteString(conn, raw)
					after(time.Minute)
					conn.Close()
					after(2 * time.Second)
					synctest.Wait()
					require.WithinRange(t, ended, start.Add(time.Minute), start.Add(time.Minute+2*time.Second))
				})
			}
		})
	}
}

// A request that is sent before the answer to the one before is no end, and is
// answered whole.
func TestPipelinedWhileWatched(t *testing.T) {
	bubble(t, patient, waiting, func(t *testing.T, s *served) {
		conn := s.pipes.dial()
		io.WriteString(conn, "GET /23456789 HTTP/1.1\r\nHost: x\r\n\r\n")
		after(time.Second)
		require.Equal(t, "200 200", statuses(replies(t, func() string {
			go func() {
				io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			}()
			b, _ := io.ReadAll(conn)
			return string(b)
		}())))
		conn.Close()
	})
}

// A context ends with its request, also one that nobody asked meanwhile or that
// is asked too late.
func TestContextEndsWithTheRequest(t *testing.T) {
	var kept []context.Context
	h := func(w http.ResponseWriter, r *http.Request) {
		kept = append(kept, r.Context())
		if len(kept) == 1 {
			if r.Context().Err() != nil {
				panic("ended too soon")
			}
			if r.Context().Value(http.LocalAddrContextKey) == nil {
				panic("no address")
			}
		}
	}
	bubble(t, patient, h, func(t *testing.T, s *served) {
		s.talk(get + get)
		require.Len(t, kept, 2)
		for _, ctx := range kept {
			require.ErrorIs(t, ctx.Err(), context.Canceled)
		}
	})
}

// To look a few times whether a context has ended costs nothing.
func TestContextErrIsCheap(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if n := testing.AllocsPerRun(5, func() { _ = ctx.Err() }); n != 0 {
			panic(n)
		}
	}
	bubble(t, patient, h, func(t *testing.T, s *served) {
		require.Equal(t, "200 200", statuses(replies(t, s.talk(get+get))))
	})
}

func TestShutdown(t *testing.T) {
	bubble(t, patient, waiting, func(t *testing.T, s *served) {
		idle, half, busy := s.pipes.dial(), s.pipes.dial(), s.pipes.dial()
		io.WriteString(half, "GET / HT")
		io.WriteString(busy, "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		require.Equal(t, 3, s.ConnCount())
		start := time.Now()
		ended := make(chan error, 1)
		go func() { ended <- s.Shutdown(context.Background()) }()
		for _, conn := range []io.Reader{idle, half} {
			b, err := io.ReadAll(conn)
			require.NoError(t, err)
			require.Empty(t, b)
		}
		require.Zero(t, time.Since(start))
		b, err := io.ReadAll(busy)
		require.NoError(t, err)
		rs := replies(t, string(b))
		require.Equal(t, "200", statuses(rs))
		require.True(t, rs[0].close)
		require.Equal(t, 2*time.Second, time.Since(start))
		require.NoError(t, <-ended)
		require.ErrorIs(t, s.Serve(newPipes()), http.ErrServerClosed)
	})
}

func TestShutdownInVain(t *testing.T) {
	bubble(t, http1.ServerOptions{}, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(t *testing.T, s *served) {
		conn := s.pipes.dial()
		defer conn.Close()
		io.WriteString(conn, get)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.ErrorIs(t, s.Shutdown(ctx), context.DeadlineExceeded)
		require.Equal(t, 1, s.ConnCount())
		require.NoError(t, s.Close(), "ends the request")
	})
}

// stream sends a line a second until its context ends.
func stream(w http.ResponseWriter, r *http.Request) {
	w.(interface{ Detach() }).Detach()
	for r.Context().Err() == nil {
		io.WriteString(w, ":\n")
		w.(http.Flusher).Flush()
		after(time.Second)
	}
	io.WriteString(w, "bye\n")
}

func TestDetachedStreams(t *testing.T) {
	bubble(t, http1.ServerOptions{MaxConnections: 1, IdleTimeout: 4 * time.Second}, stream, func(t *testing.T, s *served) {
		var got [3]chan string
		for i := range got {
			conn := s.pipes.dial()
			got[i] = make(chan string, 1)
			go func() {
				io.WriteString(conn, get)
				b, _ := io.ReadAll(conn)
				got[i] <- string(b)
			}()
			synctest.Wait()
			require.Zero(t, s.ConnCount(), "a stream is not counted")
		}
		after(59500 * time.Millisecond)
		require.NoError(t, s.Shutdown(context.Background()))
		for _, c := range got {
			r := replies(t, <-c)[0]
			require.Equal(t, strings.Repeat(":\n", 60)+"bye\n", r.body)
			require.True(t, r.close)
		}
	})
}

// Also where the head has gone before, the connection ends with the stream.
func TestDetachedLate(t *testing.T) {
	bubble(t, http1.ServerOptions{}, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		w.(interface{ Detach() }).Detach()
		io.WriteString(w, "a")
	}, func(t *testing.T, s *served) {
		rs := replies(t, s.talk(get+get))
		require.Equal(t, "200", statuses(rs))
		require.Equal(t, "a", rs[0].body)
	})
}

func TestMaxConnections(t *testing.T) {
	bubble(t, http1.ServerOptions{MaxConnections: 1}, echo, func(t *testing.T, s *served) {
		first := s.pipes.dial()
		synctest.Wait()
		require.Equal(t, 1, s.ConnCount())

		r := replies(t, readAll(s.pipes.dial()))[0]
		require.Equal(t, 503, r.status)
		require.Equal(t, `{"error":"too many connections","retry_after":1}`, r.body)
		require.Equal(t, "1", r.header.Get("Retry-After"))
		require.Equal(t, "nosniff", r.header.Get("X-Content-Type-Options"))
		require.Regexp(t, `^[0-9a-f]{16}$`, r.header.Get("X-Request-Id"))
		require.True(t, r.close)

		require.Contains(t, s.talkOn(first, get), "200 OK", "the first goes on, and ends")
		require.Contains(t, s.talk(get), "200 OK")

		// One that comes a moment before another ends is let in.
		first = s.pipes.dial()
		synctest.Wait()
		second := s.pipes.dial()
		go func() {
			after(time.Millisecond)
			first.Close()
		}()
		after(time.Second)
		require.Contains(t, s.talkOn(second, get), "200 OK")

		// A crowd is refused, and nobody is kept.
		first = s.pipes.dial()
		answers := make(chan string)
		for range 200 {
			go func() { answers <- readAll(s.pipes.dial()) }()
		}
		for range 200 {
			require.Contains(t, <-answers, "503")
		}
		require.Equal(t, 1, s.ConnCount())
		first.Close()
	})
}

func readAll(conn io.ReadCloser) string {
	defer conn.Close()
	b, _ := io.ReadAll(conn)
	return string(b)
}
