package http1_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// A bubble's time begins at the turn of the century.
const date = "Date: Sat, 01 Jan 2000 00:00:00 GMT\r\n"

func write(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, p := range pieces {
			io.WriteString(w, p)
		}
	}
}

func TestAnswers(t *testing.T) {
	big := strings.Repeat("x", 20_000)
	const get, old, head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, tc := range []struct {
		name, raw, want string
		handler         http.HandlerFunc
	}{
		{"nothing", get, ok + "Content-Length: 0\r\n" + date + "\r\n", write()},
		{"small", get, ok + "Content-Length: 5\r\n" + date + "\r\nhello", write("hel", "lo")},
		{"too large for a length", get, ok + "Transfer-Encoding: chunked\r\n" + date + "\r\n4e21\r\na" + big + "\r\n1\r\nb\r\n0\r\n\r\n", write("a", big, "b")},
		{"large with a length", get, ok + "Content-Length: 20001\r\n" + date + "\r\na" + big, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "20001")
			write("a", big)(w, r)
		}},
		{"large in HTTP/1.0", old, ok + date + "Connection: close\r\n\r\n" + big, write(big)},
		{"small in HTTP/1.0", old, ok + "Content-Length: 1\r\n" + date + "Connection: close\r\n\r\na", write("a")},
		{"kept alive in HTTP/1.0", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", ok + "Content-Length: 1\r\n" + date + "Connection: keep-alive\r\n\r\na", write("a")},
		{"flushed", get, ok + "Transfer-Encoding: chunked\r\n" + date + "\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", func(w http.ResponseWriter, r *http.Request) {
			write("a")(w, r)
			w.(http.Flusher).Flush()
			write("bc")(w, r)
		}},
		{"flushed first", get, ok + "Transfer-Encoding: chunked\r\n" + date + "\r\n0\r\n\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
		}},
		{"HEAD, small", head, ok + "Content-Length: 5\r\n" + date + "\r\n", write("hello")},
		{"HEAD, nothing", head, ok + date + "\r\n", write()},
		{"HEAD, large", head, ok + "Content-Length: 20000\r\n" + date + "\r\n", write(big)},
		{"HEAD, flushed", head, ok + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			write(big)(w, r)
			w.(http.Flusher).Flush()
		}},
		{"HEAD with a length", head, ok + "Content-Length: 7\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "7")
		}},
		{"no content", get, "HTTP/1.1 204 No Content\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "7")
			w.WriteHeader(204)
			_, err := w.Write([]byte("x"))
			require.ErrorIs(t, err, http.ErrBodyNotAllowed)
		}},
		{"not modified", get, "HTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			w.WriteHeader(304)
		}},
		{"more than announced", get, ok + "Content-Length: 2\r\n" + date + "\r\nab", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "2")
			write("ab")(w, r)
			_, err := w.Write([]byte("c"))
			require.ErrorIs(t, err, http.ErrContentLength)
		}},
		{"header after the status", get, ok + "A: b\r\nContent-Length: 0\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("A", "b")
			w.WriteHeader(200)
			w.Header().Set("C", "d")
		}},
		{"status twice", get, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(404)
			w.WriteHeader(500)
		}},
		{"informational", get, "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + ok + "Link: a\r\nContent-Length: 0\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "a")
			w.WriteHeader(103)
		}},
		{"the handler's framing", get, ok + "Content-Length: 1\r\n" + date + "\r\na", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["transfer-encoding"] = []string{"chunked"}
			w.Header()["content-length"] = []string{"7"}
			w.Header().Set("Content-Length", "x")
			w.Header().Set("Connection", "keep-alive")
			write("a")(w, r)
		}},
		{"the handler's date", get, ok + "Content-Length: 0\r\nDate: today\r\n\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", "today")
		}},
		{"no date", get, ok + "Content-Length: 0\r\n\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Date"] = nil
		}},
		{"values that would end their line", get, ok + "A: b  Content-Length: 7\r\nContent-Length: 0\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("A", "b\r\nContent-Length: 7")
			w.Header()["B: c\r\nD"] = []string{"e"}
		}},
		{"two values", get, ok + "A: b\r\nA: c\r\nContent-Length: 0\r\n" + date + "\r\n", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["A"] = []string{"b", "c"}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, http1.ServerOptions{}, tc.handler, func(t *testing.T, s *served) {
				require.Equal(t, tc.want, s.talk(tc.raw))
				// The connection is where it should be.
				if !strings.Contains(tc.want, "Connection: close") {
					require.Equal(t, tc.want+tc.want, s.talk(tc.raw+tc.raw))
				}
			})
		})
	}
}

// An answer that is shorter than announced, or broken off, is not taken for a
// whole one.
func TestBrokenAnswers(t *testing.T) {
	for _, tc := range []struct {
		name, want, logged string
		handler            http.HandlerFunc
	}{
		{"short", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n" + date + "\r\nab", "", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "3")
			io.WriteString(w, "ab")
		}},
		{"panic", `{"error":"something went wrong; the server's log says what"}`, "request_id=id-1", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "never seen")
			panic("oh")
		}},
		{"panic in a stream", "Transfer-Encoding: chunked\r\n" + date + "\r\n1\r\na\r\n", "panic: oh", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			io.WriteString(w, "b")
			panic("oh")
		}},
		{"aborted", "", "", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			panic(http.ErrAbortHandler)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, http1.ServerOptions{}, tc.handler, func(t *testing.T, s *served) {
				got := s.talk("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: id-1\r\n\r\n" + next)
				require.True(t, strings.HasSuffix(got, tc.want), "%q", got)
				require.LessOrEqual(t, strings.Count(got, "HTTP/1.1"), 1, "the second request is not answered")
				require.NotContains(t, got, "never seen")
				if tc.name == "panic" {
					r := replies(t, got)[0]
					require.Equal(t, 500, r.status)
					require.Equal(t, "id-1", r.header.Get("X-Request-Id"))
				}
				require.Contains(t, s.log.String(), tc.logged)
				require.Equal(t, tc.logged == "", s.log.Len() == 0, s.log)
			})
		})
	}
}

func TestContinue(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
	t.Run("the body is read", func(t *testing.T) {
		bubble(t, http1.ServerOptions{}, echo, func(t *testing.T, s *served) {
			conn := s.pipes.dial()
			r := bufio.NewReader(conn)
			io.WriteString(conn, post)
			line, _ := r.ReadString('\n')
			require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
			r.ReadString('\n')
			go io.WriteString(conn, "hi")
			res, err := http.ReadResponse(r, nil)
			require.NoError(t, err)
			require.EqualValues(t, len("POST / hi"), res.ContentLength)
			conn.Close()
		})
	})
	t.Run("it is not", func(t *testing.T) {
		bubble(t, http1.ServerOptions{}, write("no"), func(t *testing.T, s *served) {
			rs := replies(t, s.talk(post+next))
			require.Equal(t, "200", statuses(rs), "the client may or may not send its body")
			require.True(t, rs[0].close)
		})
	})
}

// What a handler leaves of a body is skipped, if it is not too much.
func TestUnreadBodies(t *testing.T) {
	body := func(n int) string { return strings.Repeat("x", n) }
	half := func(w http.ResponseWriter, r *http.Request) { r.Body.Read(make([]byte, 1)) }
	for _, tc := range []struct{ name, raw, want string }{
		{"length", "Content-Length: 20000\r\n\r\n" + body(20_000), "200 200"},
		{"long", fmt.Sprintf("Content-Length: %d\r\n\r\n", 300<<10) + body(300<<10), "200"},
		{"chunked", "Transfer-Encoding: chunked\r\n\r\n5000\r\n" + body(0x5000) + "\r\n0\r\n\r\n", "200 200"},
		{"long chunk", "Transfer-Encoding: chunked\r\n\r\n50000\r\n" + body(0x50000) + "\r\n0\r\n\r\n", "200"},
		{"bad chunk behind it", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nx\r\n\r\n", "200"},
	} {
		for name, h := range map[string]http.HandlerFunc{"untouched": write(), "begun": half} {
			t.Run(tc.name+" "+name, func(t *testing.T) {
				bubble(t, http1.ServerOptions{}, h, func(t *testing.T, s *served) {
					require.Equal(t, tc.want, statuses(replies(t, s.talk("POST / HTTP/1.1\r\nHost: x\r\n"+tc.raw+next))))
				})
			})
		}
	}
}

func TestHijack(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, err = w.Write([]byte("x"))
		if !errors.Is(err, http.ErrHijacked) {
			panic(err)
		}
		conn.SetDeadline(time.Now().Add(time.Hour))
		go func() {
			defer conn.Close()
			line, _ := rw.ReadString('\n')
			after(time.Minute)
			fmt.Fprintf(rw, "you said %s", line)
			rw.Flush()
		}()
	}
	bubble(t, patient, h, func(t *testing.T, s *served) {
		conn := s.pipes.dial()
		go io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\nhel")
		synctest.Wait()
		require.Zero(t, s.ConnCount())
		require.NoError(t, s.Close(), "the connection is not the server's")
		io.WriteString(conn, "lo\n")
		got, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Equal(t, "you said hello\n", string(got))
	})
}
