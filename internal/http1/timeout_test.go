package http1_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

var patient = http1.ServerOptions{IdleTimeout: 4 * time.Second}

// bodyStatus answers what the body's end means.
func bodyStatus(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.WriteHeader(http.StatusRequestTimeout)
	case errors.As(err, new(*http.MaxBytesError)):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case n > 0:
		w.WriteHeader(http.StatusAccepted)
	}
}

// slowly sends pieces, each after a pause, and returns what comes and when the
// connection ended.
func slowly(s *served, pause time.Duration, pieces ...string) (got string, took time.Duration) {
	conn, start := s.pipes.dial(), time.Now()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i, p := range pieces {
			if i > 0 {
				after(pause)
			}
			if _, err := io.WriteString(conn, p); err != nil {
				return
			}
		}
	}()
	b, _ := io.ReadAll(conn)
	took = time.Since(start)
	conn.Close()
	<-sent
	return string(b), took
}

func TestSlowClients(t *testing.T) {
	const length = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n"
	const chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tc := range []struct {
		name     string
		pause    time.Duration
		pieces   []string
		want     string
		min, max time.Duration
	}{
		{"no request", 0, []string{}, "", 4 * time.Second, 5 * time.Second},
		{"a piece of a head", 0, []string{"GET / HT"}, "408", 4 * time.Second, 5 * time.Second},
		{"one byte", 0, []string{"G"}, "408", 4 * time.Second, 5 * time.Second},
		{"a head in drops", time.Second, strings.Split("GET / HTTP/1.1\r\nHost: x\r\n\r\n", ""), "408", 4 * time.Second, 5 * time.Second},
		{"a head in two pieces", 3 * time.Second, []string{"GET / HT", "TP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"}, "200", 3 * time.Second, 3 * time.Second},
		{"silence behind an answer", 0, []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}, "200", 4 * time.Second, 5 * time.Second},
		{"no body", 0, []string{length}, "408", 4 * time.Second, 5 * time.Second},
		{"half a body", time.Second, []string{length, "abc"}, "408", 5 * time.Second, 6 * time.Second},
		{"a body in drops", 3 * time.Second, []string{length, "a", "b", "c", "d", "e", "f"}, "202", 22 * time.Second, 23 * time.Second},
		{"half a chunk", time.Second, []string{chunked, "6\r\nabc"}, "408", 5 * time.Second, 6 * time.Second},
		{"no last chunk", time.Second, []string{chunked, "3\r\nabc\r\n"}, "408", 5 * time.Second, 6 * time.Second},
		{"second request cut", time.Second, []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET"}, "200 408", 5 * time.Second, 6 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, patient, bodyStatus, func(t *testing.T, s *served) {
				got, took := slowly(s, tc.pause, tc.pieces...)
				require.Equal(t, tc.want, statuses(replies(t, got)))
				require.GreaterOrEqual(t, took, tc.min)
				require.LessOrEqual(t, took, tc.max)
			})
		})
	}
}

// A client that reads nothing holds its handler up no longer than the limit; one
// that reads slowly gets all.
func TestSlowReaders(t *testing.T) {
	const size = 1 << 20
	var ended chan error // made in each bubble
	h := func(w http.ResponseWriter, r *http.Request) {
		_, err := w.Write(make([]byte, size))
		ended <- err
	}
	t.Run("none", func(t *testing.T) {
		bubble(t, patient, h, func(t *testing.T, s *served) {
			ended = make(chan error, 1)
			conn, start := s.pipes.dial(), time.Now()
			defer conn.Close()
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
			require.LessOrEqual(t, time.Since(start), 5*time.Second)
			synctest.Wait()
			require.Zero(t, s.ConnCount(), "the connection has ended")
		})
	})
	t.Run("slow", func(t *testing.T) {
		bubble(t, patient, h, func(t *testing.T, s *served) {
			ended = make(chan error, 1)
			conn := s.pipes.dial()
			defer conn.Close()
			io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n")
			total, buf := 0, make([]byte, 32<<10)
			for {
				n, err := io.ReadFull(conn, buf)
				if total += n; err != nil {
					break
				}
				after(time.Second)
			}
			require.NoError(t, <-ended)
			require.Greater(t, total, size)
		})
	})
	t.Run("with a deadline of the handler's", func(t *testing.T) {
		own := func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
			h(w, r)
		}
		bubble(t, patient, own, func(t *testing.T, s *served) {
			ended = make(chan error, 1)
			conn, start := s.pipes.dial(), time.Now()
			defer conn.Close()
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
			require.Equal(t, time.Minute, time.Since(start))
		})
	})
}

// The handler's read deadline replaces the limit for its request alone.
func TestReadDeadlineOfTheHandler(t *testing.T) {
	for _, d := range []time.Duration{time.Second, time.Minute} {
		h := func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(d))
			bodyStatus(w, r)
		}
		bubble(t, patient, h, func(t *testing.T, s *served) {
			got, took := slowly(s, 0, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
			require.Equal(t, "408", statuses(replies(t, got)))
			require.Equal(t, d, took)

			got, took = slowly(s, 0, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			require.Equal(t, "200", statuses(replies(t, got)))
			require.LessOrEqual(t, took, 5*time.Second)
		})
	}
}

func TestNoIdleTimeout(t *testing.T) {
	bubble(t, http1.ServerOptions{}, bodyStatus, func(t *testing.T, s *served) {
		got, _ := slowly(s, 24*time.Hour, "GE", "T / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\n", "x")
		require.Equal(t, "200 202", statuses(replies(t, got)))
	})
}

func TestMaxBody(t *testing.T) {
	limited := http1.ServerOptions{MaxBody: 4}
	for _, tc := range []struct{ name, raw, want string }{
		{"length at the limit", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd" + next, "202 200"},
		{"length past it", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde" + next, "413"},
		{"length far past it, nothing sent", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n\r\n", "413"},
		{"length past it, to be told to go on", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", "413"},
		{"chunks at the limit", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n" + next, "202 200"},
		{"chunks past it", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n" + next, "413"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, limited, bodyStatus, func(t *testing.T, s *served) {
				got := s.talk(tc.raw)
				require.NotContains(t, got, "100 Continue")
				require.Equal(t, tc.want, statuses(replies(t, got)))
			})
		})
	}
}
