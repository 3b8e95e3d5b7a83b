package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// unavailable answers that the server cannot answer now.
func unavailable(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
}

// faults are the ways in which a request goes wrong on its way.
var faults = map[string]func(http.ResponseWriter, *http.Request, http.Handler){
	"before":      cutBefore,
	"after":       cutAfter,
	"within":      cutWithin,
	"unavailable": unavailable,
}

// A write happens once, and is answered, whatever becomes of its first tries.
func TestWritesHappenOnce(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			s := inMemory(t, serve.Options{})
			db := s.open(client.Options{})
			exec(t, db, `create collection c (n int)`)
			s.first(2, fault)
			n, err := db.Exec(t.Context(), `put c [{n: 1}, {n: 2}]`)
			require.NoError(t, err)
			require.Equal(t, 2, n)
			s.first(2, fault)
			res, err := db.Query(t.Context(), `set c {n: n + 10} where n = 1 returning n`)
			require.NoError(t, err)
			require.Equal(t, []string{`{"n":11}<nil>`}, levels(res.All(), ""))
			require.Equal(t, 1, res.Affected())
			s.first(2, fault)
			results, err := db.Batch(t.Context(), []fenec.Statement{{Text: `put c {n: 3}`}, {Text: `get c count`}})
			require.NoError(t, err)
			require.Equal(t, []string{`{"count":3}<nil>`}, levels(results[1].All(), ""))
			s.first(2, fault)
			res, err = db.Query(t.Context(), `get c order id`)
			require.NoError(t, err)
			require.Equal(t, 3, res.Len())
			if name == "within" {
				return // rows that have been given are not given again
			}
			s.first(2, fault)
			count := 0
			for _, err := range db.Rows(t.Context(), `get c`) {
				require.NoError(t, err)
				count++
			}
			require.Equal(t, 3, count)
		})
	}
}

// Without a key a write is sent once.
func TestWritesWithoutKeys(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{NoKeys: true})
	exec(t, db, `create collection c (n int)`)
	for name, fault := range faults {
		s.first(1, fault)
		before := s.seen.Load()
		_, err := db.Exec(t.Context(), `put c {n: 1}`)
		require.Error(t, err, name)
		require.Equal(t, before+1, s.seen.Load(), name)
		if name != "unavailable" {
			require.ErrorIs(t, err, client.ErrNoAnswer, name)
		}
	}
	keyed := s.open(client.Options{})
	for _, text := range []string{`compact`, `create index on c (n) @hash`} {
		s.first(1, cutBefore)
		_, err := keyed.Exec(t.Context(), text)
		require.ErrorIs(t, err, client.ErrNoAnswer, text)
		exec(t, keyed, text)
	}
	results, err := keyed.Batch(t.Context(), []fenec.Statement{{Text: `del c`}, {Text: `compact`}})
	require.NoError(t, err)
	require.Equal(t, "compacted", results[1].Message())
	_, err = keyed.Batch(t.Context(), []fenec.Statement{{Text: `put c {}`}, {Text: `compact`}, {Text: `drop collection nope`}})
	var failed *fenec.BatchError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 2, failed.Completed)
}

func TestPausesBetweenTries(t *testing.T) {
	s := inMemory(t, serve.Options{})
	var pauses []time.Duration
	db := s.open(client.Options{Retries: 9, Sleep: func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		return ctx.Err()
	}})
	s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadGateway) })
	_, err := db.Query(t.Context(), `collections`)
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusBadGateway, refused.Status)
	require.Equal(t, int64(10), s.seen.Load())
	for i, most := range []time.Duration{50, 100, 200, 400, 800, 1600, 2000, 2000, 2000} {
		require.LessOrEqual(t, pauses[i], most*time.Millisecond)
		require.GreaterOrEqual(t, pauses[i], most*time.Millisecond/2)
	}

	pauses = nil
	s.first(3, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Retry-After", []string{"3", "99999", "soon"}[len(pauses)])
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err = db.Query(t.Context(), `collections`)
	require.NoError(t, err)
	require.Equal(t, []time.Duration{3 * time.Second, 30 * time.Second}, pauses[:2])
	require.Less(t, pauses[2], time.Second)
}

// The context bounds the tries, and Close ends them.
func TestTriesEnd(t *testing.T) {
	s := inMemory(t, serve.Options{})
	s.tampered(unavailable)
	ctx, cancel := context.WithCancel(t.Context())
	db := s.open(client.Options{Sleep: func(context.Context, time.Duration) error {
		cancel()
		return nil
	}})
	_, err := db.Query(ctx, `collections`)
	require.ErrorIs(t, err, context.Canceled)
	var refused *client.Error
	require.ErrorAs(t, err, &refused, "the last error is told too")
	_, err = db.Query(ctx, `collections`)
	require.ErrorIs(t, err, context.Canceled)

	var closing *client.DB
	closing = s.open(client.Options{Sleep: func(ctx context.Context, _ time.Duration) error {
		require.NoError(t, closing.Close())
		<-ctx.Done()
		return ctx.Err()
	}})
	_, err = closing.Query(t.Context(), `collections`)
	require.ErrorIs(t, err, fenec.ErrClosed)

	once := s.open(client.Options{Retries: -1})
	before := s.seen.Load()
	_, err = once.Query(t.Context(), `collections`)
	require.Error(t, err)
	require.Equal(t, before+1, s.seen.Load())

	s.tampered(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is the client's going noticed
		<-r.Context().Done()
	})
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = once.Query(ctx, `collections`)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// What the server refuses for good is not sent again.
func TestRefusalsStay(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{})
	for status, kind := range map[int]error{
		400: fenec.ErrQuery, 401: fenec.ErrDenied, 403: fenec.ErrDenied, 404: fenec.ErrNotFound, 409: fenec.ErrDuplicate,
		412: fenec.ErrUnmet, 413: fenec.ErrOverLimit, 422: nil, 500: nil, 504: nil, 507: fenec.ErrMemory, 302: nil,
	} {
		s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>"))
		})
		before := s.seen.Load()
		_, err := db.Query(t.Context(), `collections`)
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, status, refused.Status)
		require.Equal(t, before+1, s.seen.Load(), status)
		if kind != nil {
			require.ErrorIs(t, err, kind, status)
		}
	}
	for message, kind := range map[string]error{
		"type error: x": fenec.ErrType, "already exists: x": fenec.ErrExists, "read only: x": fenec.ErrReadOnly, "plugin error: x": fenec.ErrPlugin,
		fenec.ErrMemory.Error(): fenec.ErrMemory, fenec.ErrFailed.Error(): fenec.ErrFailed,
	} {
		s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(500)
			_, _ = w.Write([]byte(`{"error":"` + message + `"}`))
		})
		_, err := db.Query(t.Context(), `collections`)
		require.ErrorIs(t, err, kind)
		require.EqualError(t, err, message)
	}
}

// A write goes on after the server was started anew on its file, and is not done
// twice.
func TestWritesLiveThroughARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db.fenec")
	fdb, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncAlways})
	require.NoError(t, err)
	s := newServer(t, fdb, serve.Options{})
	restart := func(ctx context.Context, _ time.Duration) error {
		require.NoError(t, fdb.Close())
		fdb, err = fenec.Open(path, fenec.Options{Sync: fenec.SyncAlways})
		require.NoError(t, err)
		s.use(fdb, serve.Options{})
		return ctx.Err()
	}
	defer func() { require.NoError(t, fdb.Close()) }()
	db := s.open(client.Options{Sleep: restart})
	exec(t, db, `create collection c (n int)`)
	for _, fault := range faults {
		s.first(2, fault)
		exec(t, db, `put c {n: 1}`)
	}
	require.NoError(t, restart(t.Context(), 0))
	res, err := db.Query(t.Context(), `get c count`)
	require.NoError(t, err)
	require.Equal(t, []string{`{"count":4}<nil>`}, levels(res.All(), ""))
}

func TestKeysOfTheCaller(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{NoKeys: true})
	exec(t, db, `create collection c (n int)`)
	ctx := client.WithKey(t.Context(), "order 7")
	for range 2 {
		n, err := db.Exec(ctx, `put c {n: 1}`)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	_, err := db.Exec(ctx, `put c {n: 2}`)
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	res, err := db.Query(ctx, `get c count`)
	require.NoError(t, err)
	require.Equal(t, []string{`{"count":1}<nil>`}, levels(res.All(), ""))
}

// An answer that was too long to be kept is told of as gone.
func TestAnswersThatAreGone(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{})
	exec(t, db, `create collection c (s text)`)
	s.first(1, cutAfter)
	exec(t, db, `put c {s: $1}`, strings.Repeat("x", 100<<10))
	s.first(1, cutAfter)
	_, err := db.Query(t.Context(), `set c {s: s} returning *`)
	require.ErrorIs(t, err, client.ErrAnswerGone)
	s.first(1, cutAfter)
	_, err = db.Batch(t.Context(), []fenec.Statement{{Text: `set c {s: s} returning *`}})
	require.ErrorIs(t, err, client.ErrAnswerGone)
}

// Reads wait for what was written.
func TestReadsWaitForWrites(t *testing.T) {
	s := inMemory(t, serve.Options{})
	asked := make(chan string, 100)
	s.tampered(func(w http.ResponseWriter, r *http.Request, inner http.Handler) {
		after := r.Header.Get("Fenec-After")
		asked <- after
		if after != "" {
			r.Header.Set("Fenec-Wait", "1")
		}
		inner.ServeHTTP(w, r)
	})
	db := s.open(client.Options{ReadOwnWrites: true, NoKeys: true})
	_, err := db.Query(t.Context(), `collections`)
	require.NoError(t, err)
	exec(t, db, `create collection c (n int)`)
	exec(t, db, `put c [{}, {}]`)
	_, err = db.Query(t.Context(), `get c`)
	require.NoError(t, err)
	for _, err := range db.Rows(client.After(t.Context(), 2), `get c`) {
		require.NoError(t, err)
	}
	plain := s.open(client.Options{})
	_, err = plain.Query(client.After(t.Context(), 3), `get c`)
	require.NoError(t, err)
	_, err = plain.Batch(client.After(t.Context(), 4), []fenec.Statement{{Text: `get c`}})
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusGatewayTimeout, refused.Status)
	for i, want := range []string{"", "", "", "3", "3", "3", "4"} {
		require.Equal(t, want, <-asked, i)
	}
}

// Connections are used again, also after Rows and after errors.
func TestConnectionsAreKept(t *testing.T) {
	s := inMemory(t, serve.Options{})
	conns := make(chan string, 100)
	s.tampered(func(w http.ResponseWriter, r *http.Request, inner http.Handler) {
		conns <- r.RemoteAddr
		inner.ServeHTTP(w, r)
	})
	db := s.open(client.Options{})
	exec(t, db, `create collection c (s text)`)
	for range 3 {
		exec(t, db, `put c {s: $1}`, strings.Repeat("x", 600<<10))
		for _, err := range db.Rows(t.Context(), `get c`) {
			require.NoError(t, err)
		}
		_, err := db.Query(t.Context(), `get nope`)
		require.ErrorIs(t, err, fenec.ErrNotFound)
		_, err = db.Collections(t.Context())
		require.NoError(t, err)
	}
	only := <-conns
	require.Len(t, conns, 12)
	for range 12 {
		require.Equal(t, only, <-conns)
	}
}

// An answer that ends too early is an error, after the rows that came.
func TestRowsOfABrokenAnswer(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{})
	for body, want := range map[string]struct {
		rows int
		text string
	}{
		`[{"a":1},{"a":2}`:  {2, "no answer"},
		`[{"a":1},{"a"`:     {1, "no answer"},
		`[{"a":1},{"b":1}]`: {0, "not understood"},
		`[{"a":1}{"a":1}]`:  {0, "not understood"},
		`{"rows":[]}`:       {0, "not understood"},
		`[{"a":1}] x`:       {0, "not understood"},
		`[{"a":1},]`:        {0, "not understood"},
		"\n[ {\"a\" : 1} ,\t{\"a\":[{}, \"]}\\\"\"]} ]\n": {2, ""},
	} {
		s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write([]byte(body))
			if want.text == "no answer" {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		})
		rows, last := 0, error(nil)
		for _, err := range db.Rows(t.Context(), `get c`) {
			if last = err; err == nil {
				rows++
			}
		}
		require.Equal(t, want.rows, rows, body)
		if want.text == "" {
			require.NoError(t, last, body)
		} else {
			require.ErrorContains(t, last, want.text, body)
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, body := range []string{``, `{`, `[1]`, `[{"a":1},{"b":2}]`, `[{"a":1},{}]`, `{"x":1}`, `{"affected":"1"}`, `{"message":1}`, `[{"a":tru}]`, `[{"a":1}]]`,
		`{"rows":[],"facets":1}`, `{"rows":[],"facets":{"f":[{}]}}`, `"x"`, `[{"a":1,"a":2}`, `<html>`} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		db, err := client.Open(srv.URL, client.Options{})
		require.NoError(t, err)
		for _, text := range []string{`get c`, `put c {}`, `no statement`} {
			_, err = db.Query(t.Context(), text)
			require.ErrorContains(t, err, "not understood", body)
			require.NotErrorIs(t, err, fenec.ErrQuery)
		}
		_, err = db.Batch(t.Context(), []fenec.Statement{{Text: `get c`}})
		require.Error(t, err)
		_, err = db.Collections(t.Context())
		require.Error(t, err)
		require.NoError(t, db.Close())
		srv.Close()
	}
}
