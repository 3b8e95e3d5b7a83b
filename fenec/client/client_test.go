package client_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// served is a database behind a server, whose requests may be tampered with.
type served struct {
	t      *testing.T
	db     *fenec.DB
	server *httptest.Server
	inner  atomic.Pointer[http.Handler]
	tamper atomic.Pointer[func(w http.ResponseWriter, r *http.Request, inner http.Handler)]
	seen   atomic.Int64 // requests
}

// newServer serves a database. The caller closes that.
func newServer(t *testing.T, db *fenec.DB, opts serve.Options) *served {
	t.Helper()
	s := &served{t: t}
	s.use(db, opts)
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

// inMemory serves an empty database.
func inMemory(t *testing.T, opts serve.Options) *served {
	t.Helper()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return newServer(t, db, opts)
}

// use serves db from now on.
func (s *served) use(db *fenec.DB, opts serve.Options) {
	server := serve.New(opts)
	s.t.Cleanup(func() { require.NoError(s.t, server.Close()) })
	h := server.Handler(db)
	s.db = db
	s.inner.Store(&h)
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.seen.Add(1)
	inner := *s.inner.Load()
	if tamper := s.tamper.Load(); tamper != nil {
		(*tamper)(w, r, inner)
		return
	}
	inner.ServeHTTP(w, r)
}

// tampered lets fn answer requests, until nil.
func (s *served) tampered(fn func(w http.ResponseWriter, r *http.Request, inner http.Handler)) {
	if fn == nil {
		s.tamper.Store(nil)
		return
	}
	s.tamper.Store(&fn)
}

// first lets fn answer the first n requests from now on.
func (s *served) first(n int64, fn func(w http.ResponseWriter, r *http.Request, inner http.Handler)) {
	var count atomic.Int64
	s.tampered(func(w http.ResponseWriter, r *http.Request, inner http.Handler) {
		if count.Add(1) <= n {
			fn(w, r, inner)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// open opens the database as a client that does not wait between tries.
func (s *served) open(opts client.Options) *client.DB {
	s.t.Helper()
	if opts.Sleep == nil {
		opts.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	db, err := client.Open(s.server.URL, opts)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, db.Close()) })
	return db
}

// cutBefore breaks the connection before the server hears of the request.
func cutBefore(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// cutAfter breaks the connection once the server has done what was asked.
func cutAfter(_ http.ResponseWriter, r *http.Request, inner http.Handler) {
	inner.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// cutWithin breaks the connection in the middle of the answer's body.
func cutWithin(w http.ResponseWriter, r *http.Request, inner http.Handler) {
	rec := httptest.NewRecorder()
	inner.ServeHTTP(rec, r)
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func TestOpenRefusesWhatIsNoServer(t *testing.T) {
	for _, url := range []string{"", "localhost:8080", "ftp://x", "http://", "http://u:p@x", "http://x?a=1", "http://x/#a", "http://[::1"} {
		_, err := client.Open(url, client.Options{})
		require.Error(t, err, url)
	}
	_, err := client.Open("http://user:secret@host", client.Options{})
	require.NotContains(t, err.Error(), "secret")
}

func TestHealthAndCollections(t *testing.T) {
	s := inMemory(t, serve.Options{Token: serve.NewSecret("right")})
	db := s.open(client.Options{Token: client.NewSecret("right")})
	require.NoError(t, db.Health(t.Context()))
	require.Zero(t, db.Seq())
	_, err := db.Exec(t.Context(), `create collection b (n int)`)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `create collection a (n int)`)
	require.NoError(t, err)
	names, err := db.Collections(t.Context())
	require.NoError(t, err)
	require.Subset(t, names, []string{"a", "b"})
	require.Equal(t, s.db.Seq(), db.Seq())

	wrong := s.open(client.Options{Token: client.NewSecret("wrong")})
	_, err = wrong.Collections(t.Context())
	require.ErrorIs(t, err, fenec.ErrDenied)
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusUnauthorized, refused.Status)

	s.tampered(cutBefore)
	require.ErrorIs(t, db.Health(t.Context()), client.ErrNoAnswer)
}

func TestClose(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{})
	_, err := db.Exec(t.Context(), `create collection c (n int)`)
	require.NoError(t, err)
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, db.Close())
	for {
		if _, err = sub.Next(t.Context()); err != nil {
			break // the seed may have come before
		}
	}
	require.ErrorIs(t, err, fenec.ErrClosed)
	require.NoError(t, sub.Close())
	_, err = db.Query(t.Context(), `get c`)
	require.ErrorIs(t, err, fenec.ErrClosed)
	_, err = db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, 0)
	require.ErrorIs(t, err, fenec.ErrClosed)
}

func TestSecretIsNotShown(t *testing.T) {
	opts := client.Options{Token: client.NewSecret("hush")}
	require.NotContains(t, spell(opts), "hush")
	body, err := json.Marshal(map[string]any{"token": opts.Token})
	require.NoError(t, err)
	require.NotContains(t, string(body), "hush")
}

// Many may use a DB at once.
func TestConcurrentUse(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{ReadOwnWrites: true})
	exec(t, db, `create collection c (n int)`)
	var all sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 4 {
		all.Go(func() {
			for range 10 {
				_, err := db.Exec(t.Context(), `put c {n: $1}`, i)
				errs <- err
				for _, err := range db.Rows(t.Context(), `get c where n = $1`, i) {
					if err != nil {
						errs <- err
					}
				}
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	n, err := db.Exec(t.Context(), `del c`)
	require.NoError(t, err)
	require.Equal(t, 40, n)
}

// The HTTP client of the caller is used, for a tenant too.
func TestHTTPClientOfTheCaller(t *testing.T) {
	s := inMemory(t, serve.Options{})
	s.tampered(func(w http.ResponseWriter, r *http.Request, inner http.Handler) {
		http.StripPrefix("/t/acme", inner).ServeHTTP(w, r)
	})
	own := &http.Client{Timeout: time.Minute, Transport: s.server.Client().Transport}
	db, err := client.Open(s.server.URL+"/t/acme/", client.Options{HTTPClient: own})
	require.NoError(t, err)
	exec(t, db, `create collection c (n int)`)
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.NoError(t, err)
	require.Len(t, events(t, sub, 1), 1)
	require.NoError(t, db.Close())
	require.Equal(t, time.Minute, own.Timeout)
}
