package client_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// events spells the next n events.
func events(t *testing.T, sub *fenec.Subscription, n int) (out []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for range n {
		ev, err := sub.Next(ctx)
		require.NoError(t, err)
		body, err := ev.AppendJSON(nil)
		require.NoError(t, err)
		out = append(out, fmt.Sprint(ev.Kind, " ", string(body)))
	}
	return out
}

func exec(t *testing.T, db client.Database, text string, args ...any) {
	t.Helper()
	_, err := db.Exec(t.Context(), text, args...)
	require.NoError(t, err, text)
}

func TestSubscriptions(t *testing.T) {
	both(t, func(t *testing.T, db client.Database) {
		exec(t, db, `create collection c (n int, s text)`)
		exec(t, db, `put c [{n: 1}, {n: 2}]`)
		res, err := db.Query(t.Context(), `set c {s: "x"} where n = 2 returning id`)
		require.NoError(t, err)
		base := res.Seq()
		shape := fenec.Shape{Collection: "c", Where: "n > $1", Args: []any{1}, Select: []string{"s", "n"}}
		sub, err := db.Subscribe(t.Context(), shape, fenec.NoCursor)
		require.NoError(t, err)
		ev, err := sub.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, fenec.EventSeed, ev.Kind)
		require.Equal(t, base, ev.Seq)
		require.Equal(t, []string{`{"id":2,"s":"x","n":2}<nil>`}, levels(ev.Rows.All(), ""))

		exec(t, db, `set c {n: n + 1}`)
		ev, err = sub.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, fenec.EventChange, ev.Kind)
		require.Equal(t, []string{`{"id":1,"s":null,"n":2}<nil>`, `{"id":2,"s":"x","n":3}<nil>`}, levels(ev.Rows.All(), ""))
		exec(t, db, `del c where id = 1`)
		ev, err = sub.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, []uint64{1}, ev.Dels)
		require.False(t, ev.Schema)

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = sub.Next(ended)
		require.ErrorIs(t, err, context.Canceled)

		exec(t, db, `alter collection c add more int`)
		ev, err = sub.Next(t.Context())
		require.NoError(t, err)
		require.True(t, ev.Schema)
		exec(t, db, `drop collection c`)
		_, err = sub.Next(t.Context())
		require.ErrorIs(t, err, fenec.ErrNotFound)
		require.NoError(t, sub.Close())

		_, err = db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, 0)
		require.ErrorIs(t, err, fenec.ErrNotFound)
	})
}

func TestCloseOfASubscription(t *testing.T) {
	both(t, func(t *testing.T, db client.Database) {
		exec(t, db, `create collection c (n int)`)
		sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, fenec.NoCursor)
		require.NoError(t, err)
		require.Len(t, events(t, sub, 1), 1)
		waiting := make(chan error)
		go func() {
			_, err := sub.Next(context.Background())
			waiting <- err
		}()
		require.NoError(t, sub.Close())
		require.NoError(t, sub.Close())
		require.ErrorIs(t, <-waiting, fenec.ErrClosed)
		_, err = sub.Next(t.Context())
		require.ErrorIs(t, err, fenec.ErrClosed)
	})
}

// A subscription whose connections are cut tells every change once, without another
// seed.
func TestSubscriptionsGoOnAcrossCuts(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{})
	_, err := s.db.Exec(t.Context(), `create collection c (n int)`)
	require.NoError(t, err)
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.NoError(t, err)
	require.Equal(t, []string{`1 {"seq":1,"rows":[]}`}, events(t, sub, 1))
	sentAway := func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: error\ndata: {\"error\":\"the tenant is being moved\",\"status\":503}\n\n")
	}
	for i := range 5 {
		s.server.CloseClientConnections()
		cut := cutBefore
		if i >= 3 {
			cut = sentAway
		}
		s.first(int64(i%3), cut)
		_, err := s.db.Exec(t.Context(), `put c {n: $1}`, i)
		require.NoError(t, err)
		want := fmt.Sprintf(`2 {"seq":%d,"puts":[{"id":%d,"n":%d}],"dels":[],"schema":false}`, i+2, i+1, i)
		require.Equal(t, []string{want}, events(t, sub, 1))
	}
	require.NoError(t, sub.Close())
}

// It waits before it is opened again: 250 ms, doubling to 15 s, or as long as the
// server asks for.
func TestPausesOfSubscriptions(t *testing.T) {
	s := inMemory(t, serve.Options{})
	_, err := s.db.Exec(t.Context(), `create collection c (n int)`)
	require.NoError(t, err)
	pauses := make(chan time.Duration, 100)
	answers := make(chan struct{}, 100)
	db := s.open(client.Options{Sleep: func(ctx context.Context, d time.Duration) error {
		pauses <- d
		select {
		case <-answers:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.NoError(t, err)
	require.Len(t, events(t, sub, 1), 1)
	const tries = 9
	for range tries {
		answers <- struct{}{}
	}
	s.first(8, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if s.seen.Load() == 4 { // the third try of the second connection
			w.Header().Set("Retry-After", "7")
		}
		w.WriteHeader(http.StatusInternalServerError)
	})
	s.server.CloseClientConnections()
	_, err = s.db.Exec(t.Context(), `put c {}`)
	require.NoError(t, err)
	require.Len(t, events(t, sub, 1), 1)
	want := []time.Duration{250, 500, 1000, 7000, 4000, 8000, 15000, 15000, 15000}
	for i := range want {
		require.Equal(t, want[i]*time.Millisecond, <-pauses, i)
	}
	s.server.CloseClientConnections()
	require.Equal(t, 250*time.Millisecond, <-pauses, "it begins anew after an event")
	require.NoError(t, sub.Close())
}

// A silent connection is taken for broken.
func TestSilentSubscriptions(t *testing.T) {
	s := inMemory(t, serve.Options{KeepAlive: time.Hour})
	_, err := s.db.Exec(t.Context(), `create collection c (n int)`)
	require.NoError(t, err)
	reopened := make(chan struct{}, 1)
	db := s.open(client.Options{Silence: 200 * time.Millisecond, Retries: 100, Sleep: func(ctx context.Context, d time.Duration) error {
		select {
		case reopened <- struct{}{}:
		default:
		}
		return ctx.Err()
	}})
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, 1)
	require.NoError(t, err)
	<-reopened
	_, err = s.db.Exec(t.Context(), `put c {}`)
	require.NoError(t, err)
	require.Equal(t, []string{`2 {"seq":2,"puts":[{"id":1,"n":null}],"dels":[],"schema":false}`}, events(t, sub, 1))
	require.NoError(t, sub.Close())
}

// A token that is refused ends a subscription.
func TestSubscriptionsEndWithTheirToken(t *testing.T) {
	s := inMemory(t, serve.Options{Token: serve.NewSecret("old")})
	_, err := s.db.Exec(t.Context(), `create collection c (n int)`)
	require.NoError(t, err)
	db := s.open(client.Options{Token: client.NewSecret("old")})
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.NoError(t, err)
	require.Len(t, events(t, sub, 1), 1)
	s.use(s.db, serve.Options{Token: serve.NewSecret("new")})
	s.server.CloseClientConnections()
	for range 2 {
		_, err = sub.Next(t.Context())
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, http.StatusUnauthorized, refused.Status)
	}

	_, err = db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, 0)
	require.ErrorIs(t, err, fenec.ErrDenied)
}

func TestSubscriptionsEndWithAnErrorEvent(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{})
	for body, status := range map[string]int{
		"event: error\ndata: {\"error\":\"the token has expired\",\"status\":401}\n\n":    401,
		"event: error\ndata: {\"error\":\"not found: collection c was dropped\"}\n\n":     0,
		": keepalive\n\nevent: error\r\ndata: {\"error\":\"denied: no\"}\r\n\r\nand more": 0,
	} {
		s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(body))
		})
		sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, 0)
		require.NoError(t, err)
		_, err = sub.Next(t.Context())
		var refused *client.Error
		require.ErrorAs(t, err, &refused, body)
		require.Equal(t, status, refused.Status)
		require.NotEqual(t, "[]", kinds(err))
		require.NoError(t, sub.Close())
	}
	for _, body := range []string{"event: seed\ndata: {\"seq\":1}\n\n", "event: change\ndata: {}\n\n", "data: x\n\n", "event: error\ndata: [\n\n"} {
		s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(body))
		})
		sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, 0)
		require.NoError(t, err)
		_, err = sub.Next(t.Context())
		require.ErrorContains(t, err, "not understood", body)
		require.NoError(t, sub.Close())
	}
	s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {})
	_, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, 0)
	require.ErrorContains(t, err, "no stream")
}

// A context that ends while a subscription is opened ends that, and later does
// nothing.
func TestContextOfSubscribe(t *testing.T) {
	s := inMemory(t, serve.Options{})
	_, err := s.db.Exec(t.Context(), `create collection c (n int)`)
	require.NoError(t, err)
	db := s.open(client.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	sub, err := db.Subscribe(ctx, fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.NoError(t, err)
	cancel()
	require.Len(t, events(t, sub, 1), 1)
	require.NoError(t, sub.Close())
	_, err = db.Subscribe(ctx, fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithCancel(t.Context())
	s.tampered(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		cancel()
		<-r.Context().Done()
	})
	_, err = db.Subscribe(ctx, fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.ErrorIs(t, err, context.Canceled)
}

// A subscription lives through a restart of the server on the same file.
func TestSubscriptionsLiveThroughARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db.fenec")
	fdb, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncAlways})
	require.NoError(t, err)
	s := newServer(t, fdb, serve.Options{})
	db := s.open(client.Options{})
	exec(t, db, `create collection c (n int)`)
	sub, err := db.Subscribe(t.Context(), fenec.Shape{Collection: "c"}, fenec.NoCursor)
	require.NoError(t, err)
	require.Len(t, events(t, sub, 1), 1)
	exec(t, db, `put c {n: 1}`)
	require.Len(t, events(t, sub, 1), 1)

	s.tampered(cutBefore)
	s.server.CloseClientConnections()
	require.NoError(t, fdb.Close())
	fdb, err = fenec.Open(path, fenec.Options{Sync: fenec.SyncAlways})
	require.NoError(t, err)
	defer func() { require.NoError(t, fdb.Close()) }()
	_, err = fdb.Exec(t.Context(), `put c {n: 2}`)
	require.NoError(t, err)
	s.use(fdb, serve.Options{})
	s.tampered(nil)
	got := events(t, sub, 1)
	require.Contains(t, got[0], `"puts":[{"id":2,"n":2}],"dels":[]`)
	n, err := db.Exec(t.Context(), `del c`)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NoError(t, sub.Close())
}
